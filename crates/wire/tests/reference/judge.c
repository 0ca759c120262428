/* What libdbus says about messages, names, signatures and addresses, and a bus about match rules.
 *
 * Cases come in batches on standard input: how many, then for each its kind, its length and its
 * bytes. For each case a verdict goes back, its length and a text: a class, and what there is to say
 * beside it. Numbers are 32 bits as the machine has them. With an argument, the address of a bus,
 * rules are asked of that. */

#include <dbus/dbus.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
    fprintf(stderr, "judge: %s\n", what);
    exit(1);
}

/* Verdicts of a batch are kept until it has been read whole, so that nobody waits for the other. */
static char *answers;
static size_t answers_len, answers_size;

static void put(const void *bytes, size_t len)
{
    if (answers_len + len > answers_size) {
        answers_size = 2 * (answers_len + len);
        answers = realloc(answers, answers_size);
        if (answers == NULL)
            fail("out of memory");
    }
    memcpy(answers + answers_len, bytes, len);
    answers_len += len;
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

static void judged(dbus_bool_t valid, DBusError *error)
{
    if (valid)
        verdict('V', "");
    else
        verdict('X', "%s", error->message);
    dbus_error_free(error);
}

/* FNV-1a, over what was read, so that the two readings can be compared. */
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

/* A text and its 0 byte; one byte that no text has if there is none. */
static void add_text(const char *text)
{
    if (text == NULL)
        add("\xff", 1);
    else
        add(text, strlen(text) + 1);
}

/* Hexadecimal digits, which mean the same in either case. */
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
            /* It would be a descriptor, and there are none. */
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

/* The first message in a stream. */
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
        return judged(FALSE, &error);
    read_message(message);
    verdict('V', "%016llx", (unsigned long long)hash);
    dbus_message_unref(message);
}

/* The keys that transports have, and those that tests make up. */
static const char *const KEYS[] = {"path", "abstract", "dir", "tmpdir", "runtime", "host", "bind", "port",
                                   "family", "guid", "noncefile", "argv0", "argv1", "scope", "env", "x"};

static void judge_address(const char *text, dbus_bool_t read)
{
    DBusError error = DBUS_ERROR_INIT;
    DBusAddressEntry **entries;
    int count;
    if (!dbus_parse_address(text, &entries, &count, &error))
        return judged(FALSE, &error);
    hash = 0xcbf29ce484222325;
    for (int i = 0; i < count; i++) {
        add_text(dbus_address_entry_get_method(entries[i]));
        for (size_t key = 0; key < sizeof KEYS / sizeof *KEYS; key++) {
            const char *value = dbus_address_entry_get_value(entries[i], KEYS[key]);
            /* A program's own name is its path, if nothing else is said. */
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
        fail("a rule cannot be sent");
    dbus_message_unref(message);
    return serial;
}

/* The answer to a call, which must be the next but for signals. */
static DBusMessage *answer_to(dbus_uint32_t serial)
{
    for (;;) {
        DBusMessage *message = dbus_connection_pop_message(bus);
        if (message == NULL) {
            if (!dbus_connection_read_write(bus, -1))
                fail("the bus has gone");
        } else if (dbus_message_get_reply_serial(message) == serial) {
            return message;
        } else {
            dbus_message_unref(message);
        }
    }
}

/* A rule that is taken goes at once, so that there are never many. */
static void judge_rules(char **rules, uint32_t count)
{
    dbus_uint32_t *serials = calloc(count, sizeof *serials);
    for (uint32_t i = 0; i < count; i++)
        serials[i] = call("AddMatch", rules[i]);
    for (uint32_t i = 0; i < count; i++) {
        DBusError error = DBUS_ERROR_INIT;
        DBusMessage *answer = answer_to(serials[i]);
        if (!dbus_set_error_from_message(&error, answer)) {
            verdict('V', "");
            serials[i] = call("RemoveMatch", rules[i]);
        } else {
            if (!dbus_error_has_name(&error, DBUS_ERROR_MATCH_RULE_INVALID))
                fail(error.message);
            judged(FALSE, &error);
            serials[i] = 0;
        }
        dbus_message_unref(answer);
    }
    for (uint32_t i = 0; i < count; i++) {
        DBusError error = DBUS_ERROR_INIT;
        if (serials[i] == 0)
            continue;
        DBusMessage *answer = answer_to(serials[i]);
        if (dbus_set_error_from_message(&error, answer))
            fail(error.message);
        dbus_message_unref(answer);
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
    case 'o': return judged(dbus_validate_path(bytes, &error), &error);
    case 'i': return judged(dbus_validate_interface(bytes, &error), &error);
    case 'n': return judged(dbus_validate_member(bytes, &error), &error);
    case 'e': return judged(dbus_validate_error_name(bytes, &error), &error);
    case 'b': return judged(dbus_validate_bus_name(bytes, &error), &error);
    case 'g': return judged(dbus_signature_validate(bytes, &error), &error);
    case 's': return judged(dbus_signature_validate_single(bytes, &error), &error);
    default: fail("there is no such kind of case");
    }
}

/* A number, or the end of the input if that may be. */
static int read_number(uint32_t *number)
{
    return fread(number, sizeof *number, 1, stdin) == 1;
}

/* A copy of its own for each, with a 0 byte behind it, so that a tool for memory sees a read beyond. */
static char *read_case(char *kind, uint32_t *len)
{
    int first = getchar();
    if (first == EOF || !read_number(len))
        fail("a batch ends early");
    char *bytes = malloc((size_t)*len + 1);
    if (bytes == NULL || fread(bytes, 1, *len, stdin) != *len)
        fail("a case ends early");
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
        answers_len = 0;
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
        if (fwrite(answers, 1, answers_len, stdout) != answers_len || fflush(stdout) != 0)
            fail("nobody reads the verdicts");
    }
    return 0;
}
