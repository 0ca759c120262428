/* Verdicts of libdbus about messages, names, signatures and addresses, and of a bus about match
   rules.

   Cases arrive in batches on standard input: their number, then for each case its kind, its
   length and its bytes. For each case the program prints a verdict: its length and a text, which
   is a class and details. Numbers are 32 bits in native byte order. If there is an argument, it
   is the address of the bus for match rules. */

#include <dbus/dbus.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *message)
{
    fprintf(stderr, "judge: %s\n", message);
    exit(1);
}

/* The verdicts of a batch are buffered until all of it is read, to prevent a deadlock. */
static char *verdicts;
static size_t verdicts_len, verdicts_size;

static void put(const void *bytes, size_t len)
{
    if (verdicts_len + len > verdicts_size) {
        verdicts_size = 2 * (verdicts_len + len);
        verdicts = realloc(verdicts, verdicts_size);
        if (verdicts == NULL)
            fail("out of memory");
    }
    memcpy(verdicts + verdicts_len, bytes, len);
    verdicts_len += len;
}

static void verdict(char class, const char *format, ...)
{
    char text[512] = {class};
    va_list args;
    va_start(args, format);
    vsnprintf(text + 1, sizeof text - 1, format, args);
    va_end(args);
    uint32_t len = strlen(text);
    put(&len, sizeof len);
    put(text, len);
}

static void report(dbus_bool_t valid, DBusError *error)
{
    if (valid)
        verdict('V', "");
    else
        verdict('X', "%s", error->message);
    dbus_error_free(error);
}

/* FNV-1a hash of the content, for comparison with the other implementation. */
static uint64_t hash;

static void add(const void *bytes, size_t len)
{
    for (const unsigned char *byte = bytes; len > 0; byte++, len--)
        hash = (hash ^ *byte) * 0x100000001b3;
}

static void add_number(uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = number >> (8 * i);
    add(bytes, sizeof bytes);
}

/* Adds a text with its 0 byte; a missing text is one byte that no text contains. */
static void add_text(const char *text)
{
    if (text == NULL)
        add("\xff", 1);
    else
        add(text, strlen(text) + 1);
}

/* Adds hexadecimal digits as lowercase. */
static void add_lower(const char *digits)
{
    for (; *digits != '\0'; digits++) {
        char lower = *digits >= 'A' && *digits <= 'F' ? *digits + 'a' - 'A' : *digits;
        add(&lower, 1);
    }
    add("", 1);
}

static void add_values(DBusMessageIter *values)
{
    int type;
    while ((type = dbus_message_iter_get_arg_type(values)) != DBUS_TYPE_INVALID) {
        char code = type;
        DBusBasicValue value;
        memset(&value, 0, sizeof value);
        add(&code, 1);
        if (type == DBUS_TYPE_UNIX_FD) {
            /* The value is not read, because no descriptors are passed. */
        } else if (dbus_type_is_fixed(type)) {
            dbus_message_iter_get_basic(values, &value);
            add_number(value.u64);
        } else if (dbus_type_is_basic(type)) {
            dbus_message_iter_get_basic(values, &value);
            add_text(value.str);
        } else {
            DBusMessageIter inside;
            dbus_message_iter_recurse(values, &inside);
            add_values(&inside);
            add(".", 1);
        }
        dbus_message_iter_next(values);
    }
}

static void read_message(DBusMessage *message)
{
    DBusMessageIter values;
    hash = 0xcbf29ce484222325;
    add_number(dbus_message_get_type(message));
    add_number(dbus_message_get_no_reply(message) | !dbus_message_get_auto_start(message) << 1
               | dbus_message_get_allow_interactive_authorization(message) << 2);
    add_number(dbus_message_get_serial(message));
    add_number(dbus_message_get_reply_serial(message));
    add_text(dbus_message_get_path(message));
    add_text(dbus_message_get_interface(message));
    add_text(dbus_message_get_member(message));
    add_text(dbus_message_get_error_name(message));
    add_text(dbus_message_get_destination(message));
    add_text(dbus_message_get_sender(message));
    add_text(dbus_message_get_signature(message));
    if (dbus_message_iter_init(message, &values))
        add_values(&values);
}

/* Judges the first message in a stream. */
static void judge_message(const char *bytes, uint32_t len)
{
    DBusError error = DBUS_ERROR_INIT;
    int needed = dbus_message_demarshal_bytes_needed(bytes, len);
    if (needed < 0)
        return verdict('X', "the start is invalid");
    if (needed == 0 || (uint32_t)needed > len)
        return verdict('I', "");
    DBusMessage *message = dbus_message_demarshal(bytes, needed, &error);
    if (message == NULL)
        return report(FALSE, &error);
    read_message(message);
    verdict('V', "%016llx", (unsigned long long)hash);
    dbus_message_unref(message);
}

/* The keys of all transports, and the key that the tests invent. */
static const char *const KEYS[] = {"path", "abstract", "dir", "tmpdir", "runtime", "host", "bind", "port",
                                   "family", "guid", "noncefile", "argv0", "argv1", "scope", "env", "x"};

static void judge_address(const char *text, dbus_bool_t read)
{
    DBusError error = DBUS_ERROR_INIT;
    DBusAddressEntry **entries;
    int count;
    if (!dbus_parse_address(text, &entries, &count, &error))
        return report(FALSE, &error);
    hash = 0xcbf29ce484222325;
    for (int i = 0; i < count; i++) {
        add_text(dbus_address_entry_get_method(entries[i]));
        for (size_t key = 0; key < sizeof KEYS / sizeof *KEYS; key++) {
            const char *value = dbus_address_entry_get_value(entries[i], KEYS[key]);
            /* The default of argv0 is the path. */
            if (value == NULL && strcmp(KEYS[key], "argv0") == 0)
                value = dbus_address_entry_get_value(entries[i], "path");
            if (value != NULL && strcmp(KEYS[key], "guid") == 0)
                add_lower(value);
            else
                add_text(value);
        }
    }
    if (read)
        verdict('V', "%016llx", (unsigned long long)hash);
    else
        verdict('V', "");
    dbus_address_entries_free(entries);
}

static DBusConnection *bus;

static dbus_uint32_t call(const char *method, const char *rule)
{
    dbus_uint32_t serial;
    DBusMessage *message = dbus_message_new_method_call(DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS,
                                                        method);
    if (message == NULL || !dbus_message_append_args(message, DBUS_TYPE_STRING, &rule, DBUS_TYPE_INVALID)
        || !dbus_connection_send(bus, message, &serial))
        fail("cannot send a match rule");
    dbus_message_unref(message);
    return serial;
}

/* Returns the reply to a call. Earlier signals are dropped. */
static DBusMessage *wait_for_reply(dbus_uint32_t serial)
{
    for (;;) {
        DBusMessage *message = dbus_connection_pop_message(bus);
        if (message == NULL) {
            if (!dbus_connection_read_write(bus, -1))
                fail("the bus closed the connection");
        } else if (dbus_message_get_reply_serial(message) == serial) {
            return message;
        } else {
            dbus_message_unref(message);
        }
    }
}

/* Accepted rules are removed at once, so that their number stays small. */
static void judge_rules(char **rules, uint32_t count)
{
    dbus_uint32_t *serials = calloc(count, sizeof *serials);
    for (uint32_t i = 0; i < count; i++)
        serials[i] = call("AddMatch", rules[i]);
    for (uint32_t i = 0; i < count; i++) {
        DBusError error = DBUS_ERROR_INIT;
        DBusMessage *reply = wait_for_reply(serials[i]);
        if (!dbus_set_error_from_message(&error, reply)) {
            verdict('V', "");
            serials[i] = call("RemoveMatch", rules[i]);
        } else {
            if (!dbus_error_has_name(&error, DBUS_ERROR_MATCH_RULE_INVALID))
                fail(error.message);
            report(FALSE, &error);
            serials[i] = 0;
        }
        dbus_message_unref(reply);
    }
    for (uint32_t i = 0; i < count; i++) {
        DBusError error = DBUS_ERROR_INIT;
        if (serials[i] == 0)
            continue;
        DBusMessage *reply = wait_for_reply(serials[i]);
        if (dbus_set_error_from_message(&error, reply))
            fail(error.message);
        dbus_message_unref(reply);
    }
    free(serials);
}

static void judge(char kind, const char *bytes, uint32_t len)
{
    DBusError error = DBUS_ERROR_INIT;
    switch (kind) {
    case 'm': return judge_message(bytes, len);
    case 'a': return judge_address(bytes, FALSE);
    case 'A': return judge_address(bytes, TRUE);
    case 'o': return report(dbus_validate_path(bytes, &error), &error);
    case 'i': return report(dbus_validate_interface(bytes, &error), &error);
    case 'n': return report(dbus_validate_member(bytes, &error), &error);
    case 'e': return report(dbus_validate_error_name(bytes, &error), &error);
    case 'b': return report(dbus_validate_bus_name(bytes, &error), &error);
    case 'g': return report(dbus_signature_validate(bytes, &error), &error);
    case 's': return report(dbus_signature_validate_single(bytes, &error), &error);
    default: fail("unknown kind of case");
    }
}

/* Reads a number; returns false at the end of the input. */
static int read_number(uint32_t *number)
{
    return fread(number, sizeof *number, 1, stdin) == 1;
}

/* Each case gets its own allocation with a 0 byte at the end, so that memory checkers detect
   reads beyond it. */
static char *read_case(char *kind, uint32_t *len)
{
    int first = getchar();
    if (first == EOF || !read_number(len))
        fail("a batch is incomplete");
    char *bytes = malloc((size_t)*len + 1);
    if (bytes == NULL || fread(bytes, 1, *len, stdin) != *len)
        fail("a case is incomplete");
    bytes[*len] = '\0';
    *kind = first;
    return bytes;
}

int main(int argc, char **argv)
{
    DBusError error = DBUS_ERROR_INIT;
    uint32_t count;
    if (argc > 1) {
        bus = dbus_connection_open_private(argv[1], &error);
        if (bus == NULL || !dbus_bus_register(bus, &error))
            fail(error.message);
    }
    while (read_number(&count)) {
        char **rules = calloc(count, sizeof *rules);
        uint32_t rules_len = 0;
        verdicts_len = 0;
        for (uint32_t i = 0; i < count; i++) {
            char kind;
            uint32_t len;
            char *bytes = read_case(&kind, &len);
            if (kind == 'r') {
                rules[rules_len++] = bytes;
            } else {
                judge(kind, bytes, len);
                free(bytes);
            }
        }
        if (rules_len > 0)
            judge_rules(rules, rules_len);
        while (rules_len > 0)
            free(rules[--rules_len]);
        free(rules);
        if (fwrite(verdicts, 1, verdicts_len, stdout) != verdicts_len || fflush(stdout) != 0)
            fail("cannot write the verdicts");
    }
    return 0;
}
