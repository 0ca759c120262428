/* Validates names, signatures and addresses, connects to and listens at addresses that do not work,
 * and prints all results and error texts. The tests compare the output for two libraries. */

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shown(const char *text) { return text == NULL ? "-" : text; }

static void finish(DBusError *error) {
    printf(" %s | %s\n", shown(error->name), shown(error->message));
    dbus_error_free(error);
}

typedef dbus_bool_t Validate(const char *text, DBusError *error);

static void validate(const char *name, Validate *function, const char *text) {
    DBusError error = DBUS_ERROR_INIT;
    printf("%s(%s) %d", name, text, function(text, &error));
    finish(&error);
}

static void show_signature(const char *signature) {
    DBusSignatureIter iter, inner;
    dbus_signature_iter_init(&iter, signature);
    printf("types of %s:", signature);
    do {
        int type = dbus_signature_iter_get_current_type(&iter);
        char *text = dbus_signature_iter_get_signature(&iter);
        printf(" %d %s", type, text);
        dbus_free(text);
        if (type == 'a')
            printf(" of %d", dbus_signature_iter_get_element_type(&iter));
        if (type == 'a' || type == 'r') {
            dbus_signature_iter_recurse(&iter, &inner);
            do {
                text = dbus_signature_iter_get_signature(&inner);
                printf(" <%d %s>", dbus_signature_iter_get_current_type(&inner), text);
                dbus_free(text);
            } while (dbus_signature_iter_next(&inner));
            printf(" end %d", dbus_signature_iter_get_current_type(&inner));
        }
    } while (dbus_signature_iter_next(&iter));
    printf(" end %d\n", dbus_signature_iter_get_current_type(&iter));
}

int main(void) {
    static const char *const NAMES[] = {"",     "a",    "a.b",   ":1.2", "/",        "/a/",
                                        "a..b", "1a.b", "\xff", "a-b.c", ":1", "/a//b", NULL};
    static const char *const SIGNATURES[] = {
        "",     "i",   "ii",    "a",    "(",    "(i",  "a{i}", "a{",    "a{(i)i}", "{ii}",   "()",
        "z",    "a}",  "a{iii}", "i)",  "a{ii", "}",   "a)",   "a{vi}", "a{ii}}",  "(a)",    "e",
        "r",    "aai", "(i(s))", "a{sv}", "v", "h",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaai", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaai",
        "((((((((((((((((((((((((((((((((((i", NULL};
    static const char *const ADDRESSES[] = {
        "", "unix", "unix:", "unix:path", "unix:path=", "unix:path=/x;", "unix:path=/x;;tcp:host=a",
        "tcp:host=a,,port=1", "unix:path=%zz", "unix:path=%4", "unix:path=a b",
        "unix:path=a,path=b", "=:a=b", ":a=b", "unix:=b", "unix:path=a=b", "a:b=c;d:",
        "unix:path=/x,", "unix:path=%00x", "unix:path=%41%2f", NULL};
    static const char *const UNREACHABLE[] = {
        "unix:path=/nonexistent/x", "unix:", "unix:path=/a,abstract=b", "foo:a=b",
        "tcp:host=localhost,port=1", "tcp:host=localhost", "unix:tmpdir=/tmp",
        "unix:abstract=nonexistent", "unixexec:", "launchd:env=X", "autolaunch:",
        "nonce-tcp:host=localhost,port=1", "unix:path=/nonexistent;foo:", "unix:runtime=yes",
        "unix:dir=/tmp", "tcp:port=1", "tcp:host=127.0.0.1,port=99999",
        "tcp:host=127.0.0.1,port=1,family=ipv9", "systemd:",
        "nonce-tcp:host=localhost,port=1,noncefile=/nonexistent", "unix:path=/etc/passwd", NULL};
    static const char *const UNUSABLE[] = {
        "unix:path=/nonexistent/x", "unix:", "unix:path=/a,abstract=b", "foo:a=b",
        "unixexec:path=/x", "launchd:env=X", "autolaunch:", "unix:runtime=no", "unix:runtime=yes",
        "tcp:host=127.0.0.1,port=1,family=ipv9", "systemd:", "unix:path=/etc/passwd", "x", NULL};
    unsetenv("DISPLAY");
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("DBUS_SESSION_BUS_ADDRESS");
    setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/system", 1);
    for (int i = 0; NAMES[i] != NULL; i++) {
        validate("path", dbus_validate_path, NAMES[i]);
        validate("interface", dbus_validate_interface, NAMES[i]);
        validate("member", dbus_validate_member, NAMES[i]);
        validate("error", dbus_validate_error_name, NAMES[i]);
        validate("bus", dbus_validate_bus_name, NAMES[i]);
        validate("utf8", dbus_validate_utf8, NAMES[i]);
    }
    for (int i = 0; SIGNATURES[i] != NULL; i++) {
        validate("signature", dbus_signature_validate, SIGNATURES[i]);
        validate("single", dbus_signature_validate_single, SIGNATURES[i]);
        if (SIGNATURES[i][0] != 0 && dbus_signature_validate(SIGNATURES[i], NULL))
            show_signature(SIGNATURES[i]);
    }
    for (int i = 0; ADDRESSES[i] != NULL; i++) {
        DBusError error = DBUS_ERROR_INIT;
        DBusAddressEntry **entries;
        int count = -1;
        dbus_bool_t parsed = dbus_parse_address(ADDRESSES[i], &entries, &count, &error);
        printf("address %s %d %d", ADDRESSES[i], parsed, count);
        for (int j = 0; parsed && j < count; j++)
            printf(" %s path %s host %s", dbus_address_entry_get_method(entries[j]),
                   shown(dbus_address_entry_get_value(entries[j], "path")),
                   shown(dbus_address_entry_get_value(entries[j], "host")));
        if (parsed)
            dbus_address_entries_free(entries);
        finish(&error);
    }
    char *escaped = dbus_address_escape_value("a b/-._*\\~%\xff");
    printf("escaped %s\n", escaped);
    dbus_free(escaped);
    static const char *const ESCAPED[] = {"a%20b", "%", "%4", "%zz", "a b", "", "%FF", NULL};
    for (int i = 0; ESCAPED[i] != NULL; i++) {
        DBusError error = DBUS_ERROR_INIT;
        char *text = dbus_address_unescape_value(ESCAPED[i], &error);
        printf("unescaped %s", shown(text));
        dbus_free(text);
        finish(&error);
    }
    for (int i = 0; UNREACHABLE[i] != NULL; i++) {
        DBusError error = DBUS_ERROR_INIT;
        DBusConnection *connection = dbus_connection_open_private(UNREACHABLE[i], &error);
        printf("open %s %d", UNREACHABLE[i], connection != NULL);
        finish(&error);
    }
    for (int i = 0; UNUSABLE[i] != NULL; i++) {
        DBusError error = DBUS_ERROR_INIT;
        DBusServer *server = dbus_server_listen(UNUSABLE[i], &error);
        printf("listen %s %d", UNUSABLE[i], server != NULL);
        finish(&error);
    }
    for (int type = 0; type < 3; type++) {
        DBusError error = DBUS_ERROR_INIT;
        DBusConnection *connection = dbus_bus_get(type, &error);
        printf("bus %d %d", type, connection != NULL);
        finish(&error);
    }
    static const char *const ERRORS[] = {
        DBUS_ERROR_FAILED, DBUS_ERROR_NO_MEMORY, DBUS_ERROR_SERVICE_UNKNOWN, DBUS_ERROR_NO_REPLY,
        DBUS_ERROR_IO_ERROR, DBUS_ERROR_BAD_ADDRESS, DBUS_ERROR_NOT_SUPPORTED,
        DBUS_ERROR_LIMITS_EXCEEDED, DBUS_ERROR_ACCESS_DENIED, DBUS_ERROR_AUTH_FAILED,
        DBUS_ERROR_NO_SERVER, DBUS_ERROR_TIMEOUT, DBUS_ERROR_NO_NETWORK, DBUS_ERROR_ADDRESS_IN_USE,
        DBUS_ERROR_DISCONNECTED, DBUS_ERROR_INVALID_ARGS, DBUS_ERROR_FILE_NOT_FOUND,
        DBUS_ERROR_FILE_EXISTS, DBUS_ERROR_UNKNOWN_METHOD, DBUS_ERROR_TIMED_OUT,
        DBUS_ERROR_OBJECT_PATH_IN_USE, "x.y.Z", NULL};
    for (int i = 0; ERRORS[i] != NULL; i++) {
        DBusError error = DBUS_ERROR_INIT, moved = DBUS_ERROR_INIT;
        dbus_set_error_const(&error, ERRORS[i], NULL);
        printf("const %d", dbus_error_has_name(&error, ERRORS[i]));
        dbus_move_error(&error, &moved);
        printf(" moved %d %d", dbus_error_is_set(&error), dbus_error_is_set(&moved));
        finish(&moved);
        dbus_set_error(&error, ERRORS[i], "%s and %d", "text", 7);
        finish(&error);
        dbus_set_error(&error, ERRORS[i], NULL);
        finish(&error);
    }
    for (int type = -1; type < 7; type++)
        printf("type %d %s %d\n", type, dbus_message_type_to_string(type),
               dbus_message_type_from_string(dbus_message_type_to_string(type)));
    for (int type = 0; type < 256; type++) {
        printf("%d", dbus_type_is_valid(type));
        if (dbus_type_is_valid(type))
            printf(" %c%d%d%d ", type, dbus_type_is_basic(type), dbus_type_is_container(type),
                   dbus_type_is_fixed(type));
    }
    int major, minor, micro;
    dbus_get_version(&major, &minor, &micro);
    char *machine = dbus_get_local_machine_id();
    printf("\nversion %d.%d machine %s\n", major, minor, shown(machine));
    dbus_free(machine);
    printf("memory %d %d\n", dbus_malloc(0) == NULL, dbus_realloc(dbus_malloc(8), 0) == NULL);
    dbus_free(NULL);
    dbus_free_string_array(NULL);
    return 0;
}
