/* Builds, changes, reads and marshals random messages with any libdbus, and prints all results.
 * The tests compare the output for two libraries. Arguments: the seed and the number of messages. */

#define _GNU_SOURCE
#include <dbus/dbus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state;

static unsigned below(unsigned limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 16) % limit);
}

static const char *TEXTS[] = {"", "a", "abc", "h\xc3\xa9llo", "a longer text, with blanks"};
static const char *PATHS[] = {"/", "/a", "/a/b", "/org/example/Object_1"};
static const char *SIGNATURES[] = {"", "s", "a{sv}", "(ii)ai"};
static const char *NAMES[] = {"a.b", "org.example.Name", "com.example.X1"};
static const char *MEMBERS[] = {"A", "Get_All", "m1"};
static const char *BUS_NAMES[] = {":1.5", "a.b", "org.example.Name-1"};
static const char BASIC[] = "ybnqiuxtdsogh";

#define PICK(table) table[below(sizeof(table) / sizeof(table[0]))]

/* Writes a random complete type. */
static void make_type(char *out, int depth, int no_fds) {
    unsigned choice = below(depth > 3 ? 6 : 10);
    size_t len = strlen(out);
    if (choice < 6) {
        out[len] = BASIC[below(no_fds ? 12 : 13)];
        out[len + 1] = 0;
    } else if (choice == 6) {
        strcat(out, "v");
    } else if (choice == 7) {
        strcat(out, "a");
        make_type(out, depth + 1, no_fds);
    } else if (choice == 8) {
        strcat(out, "(");
        unsigned count = 1 + below(3);
        for (unsigned i = 0; i < count; i++)
            make_type(out, depth + 1, no_fds);
        strcat(out, ")");
    } else {
        char key[2] = {BASIC[below(12)], 0};
        strcat(out, "a{");
        strcat(out, key);
        make_type(out, depth + 1, no_fds);
        strcat(out, "}");
    }
}

static void append_basic(DBusMessageIter *iter, int type) {
    uint64_t number = ((uint64_t)below(1u << 31) << 32) | below(1u << 31);
    const char *text;
    if (type == 'b')
        number = below(2);
    if (type == 's' || type == 'o' || type == 'g') {
        text = type == 's' ? PICK(TEXTS) : type == 'o' ? PICK(PATHS) : PICK(SIGNATURES);
        printf("%d", dbus_message_iter_append_basic(iter, type, &text));
    } else if (type == 'h') {
        int fd = below(3);
        printf("%d", dbus_message_iter_append_basic(iter, type, &fd));
    } else {
        double real = (double)below(1000) / 8;
        const void *value = type == 'd' ? (void *)&real : (void *)&number;
        printf("%d", dbus_message_iter_append_basic(iter, type, value));
    }
}

/* Appends random values of the types in a valid signature. */
static void append(DBusMessageIter *iter, DBusSignatureIter *types, int depth) {
    do {
        int type = dbus_signature_iter_get_current_type(types);
        if (dbus_type_is_basic(type)) {
            append_basic(iter, type);
            continue;
        }
        DBusMessageIter sub;
        DBusSignatureIter inner;
        if (type == 'v') {
            char contained[300] = "";
            make_type(contained, depth + 2, 1);
            dbus_signature_iter_init(&inner, contained);
            printf("%d", dbus_message_iter_open_container(iter, type, contained, &sub));
            append(&sub, &inner, depth + 2);
        } else if (type == 'a') {
            dbus_signature_iter_recurse(types, &inner);
            char *contained = dbus_signature_iter_get_signature(&inner);
            printf("%d", dbus_message_iter_open_container(iter, type, contained, &sub));
            int element = dbus_signature_iter_get_current_type(&inner);
            unsigned count = below(4);
            if (dbus_type_is_fixed(element) && element != 'h' && element != 'b' && below(2)) {
                uint64_t values[4] = {1, 2, below(100), 7};
                const void *start = values;
                printf("%d", dbus_message_iter_append_fixed_array(&sub, element, &start, count));
            } else {
                for (unsigned i = 0; i < count; i++) {
                    DBusSignatureIter copy;
                    dbus_signature_iter_init(&copy, contained);
                    dbus_signature_iter_recurse(types, &copy);
                    append(&sub, &copy, depth + 1);
                }
            }
            dbus_free(contained);
        } else {
            dbus_signature_iter_recurse(types, &inner);
            printf("%d", dbus_message_iter_open_container(iter, type, NULL, &sub));
            append(&sub, &inner, depth + 1);
        }
        printf("%d", dbus_message_iter_close_container(iter, &sub));
    } while (dbus_signature_iter_next(types));
}

static void read_values(DBusMessageIter *iter) {
    int type;
    while ((type = dbus_message_iter_get_arg_type(iter)) != 0) {
        char *signature = dbus_message_iter_get_signature(iter);
        printf(" %s%d", signature, dbus_message_iter_has_next(iter));
        dbus_free(signature);
        DBusBasicValue value;
        memset(&value, 0, sizeof value);
        if (type == 's' || type == 'o' || type == 'g') {
            dbus_message_iter_get_basic(iter, &value);
            printf("=%s", value.str);
        } else if (type == 'h') {
            dbus_message_iter_get_basic(iter, &value);
            printf("=%s", value.fd >= 0 ? "fd" : "none");
            close(value.fd);
        } else if (dbus_type_is_basic(type)) {
            dbus_message_iter_get_basic(iter, &value);
            printf("=%llx", (unsigned long long)value.u64);
        } else {
            DBusMessageIter sub;
            if (type == 'a') {
                int element = dbus_message_iter_get_element_type(iter);
                printf("[%c*%d", element, dbus_message_iter_get_element_count(iter));
                if (dbus_type_is_fixed(element) && element != 'h') {
                    const void *start = &sub;
                    int count = -1;
                    dbus_message_iter_recurse(iter, &sub);
                    printf(",%d", dbus_message_iter_get_array_len(&sub));
                    dbus_message_iter_get_fixed_array(&sub, &start, &count);
                    printf(",%d,%d", count, start != NULL);
                }
            }
            dbus_message_iter_recurse(iter, &sub);
            printf("{");
            read_values(&sub);
            printf("}");
        }
        if (!dbus_message_iter_next(iter))
            printf(".");
    }
}

static const char *shown(const char *text) { return text == NULL ? "-" : text; }

static void show(DBusMessage *message) {
    printf("\n type %d serial %u reply %u flags %d%d%d fds %d", dbus_message_get_type(message),
           dbus_message_get_serial(message), dbus_message_get_reply_serial(message),
           dbus_message_get_no_reply(message), dbus_message_get_auto_start(message),
           dbus_message_get_allow_interactive_authorization(message),
           dbus_message_contains_unix_fds(message));
    printf("\n fields %s %s %s %s %s %s %s %s", shown(dbus_message_get_path(message)),
           shown(dbus_message_get_interface(message)), shown(dbus_message_get_member(message)),
           shown(dbus_message_get_error_name(message)), shown(dbus_message_get_destination(message)),
           shown(dbus_message_get_sender(message)), shown(dbus_message_get_signature(message)),
           shown(dbus_message_get_container_instance(message)));
    printf("\n is %d%d%d%d has %d%d%d%d%d%d", dbus_message_is_method_call(message, "a.b", "A"),
           dbus_message_is_signal(message, "a.b", "A"), dbus_message_is_error(message, "a.b"),
           dbus_message_is_method_call(message, "com.example.X1", "m1"),
           dbus_message_has_path(message, "/a"), dbus_message_has_interface(message, "a.b"),
           dbus_message_has_member(message, "A"), dbus_message_has_destination(message, ":1.5"),
           dbus_message_has_sender(message, ":1.5"), dbus_message_has_signature(message, "s"));
    char **path;
    printf("\n path %d", dbus_message_get_path_decomposed(message, &path));
    for (int i = 0; path != NULL && path[i] != NULL; i++)
        printf(" %s", path[i]);
    dbus_free_string_array(path);
    DBusMessageIter iter;
    printf("\n body %d", dbus_message_iter_init(message, &iter));
    read_values(&iter);
    if (dbus_message_get_type(message) == 3 && dbus_message_get_error_name(message) == NULL)
        return; /* Libraries may end the process: such a message is not valid. */
    DBusError error = DBUS_ERROR_INIT;
    printf("\n error %d", dbus_set_error_from_message(&error, message));
    if (dbus_error_is_set(&error))
        printf(" %s: %s", error.name, error.message);
    dbus_error_free(&error);
}

static void change_header(DBusMessage *message) {
    switch (below(14)) {
    case 0: printf("p%d", dbus_message_set_path(message, below(4) ? PICK(PATHS) : NULL)); break;
    case 1: printf("i%d", dbus_message_set_interface(message, below(4) ? PICK(NAMES) : NULL)); break;
    case 2: printf("m%d", dbus_message_set_member(message, below(4) ? PICK(MEMBERS) : NULL)); break;
    case 3: printf("e%d", dbus_message_set_error_name(message, below(4) ? PICK(NAMES) : NULL)); break;
    case 4: printf("d%d", dbus_message_set_destination(message, below(4) ? PICK(BUS_NAMES) : NULL)); break;
    case 5: printf("s%d", dbus_message_set_sender(message, below(4) ? PICK(BUS_NAMES) : NULL)); break;
    case 6: dbus_message_set_no_reply(message, below(2)); break;
    case 7: dbus_message_set_auto_start(message, below(2)); break;
    case 8: dbus_message_set_allow_interactive_authorization(message, below(2)); break;
    case 9: printf("r%d", dbus_message_set_reply_serial(message, 1 + below(1000))); break;
    case 10: dbus_message_set_serial(message, below(1000)); break;
    case 11: printf("c%d", dbus_message_set_container_instance(message, below(4) ? PICK(PATHS) : NULL)); break;
    default: break;
    }
}

static void demarshal(const char *bytes, int len, int with_text) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *message = dbus_message_demarshal(bytes, len, &error);
    printf("\n demarshal %d needs %d %s", message != NULL,
           dbus_message_demarshal_bytes_needed(bytes, len), shown(error.name));
    if (with_text)
        printf(" %s", shown(error.message));
    if (message != NULL) {
        show(message);
        dbus_message_unref(message);
    }
    dbus_error_free(&error);
}

static DBusMessage *create(void) {
    switch (below(5)) {
    case 0:
        return dbus_message_new_method_call(below(2) ? PICK(BUS_NAMES) : NULL, PICK(PATHS),
                                            below(2) ? PICK(NAMES) : NULL, PICK(MEMBERS));
    case 1: return dbus_message_new_signal(PICK(PATHS), PICK(NAMES), PICK(MEMBERS));
    case 2: return dbus_message_new(1 + below(6));
    default: {
        DBusMessage *call =
            dbus_message_new_method_call("a.b", PICK(PATHS), PICK(NAMES), PICK(MEMBERS));
        dbus_message_set_serial(call, 1 + below(100));
        if (below(2))
            dbus_message_set_sender(call, ":1.5");
        DBusMessage *reply = below(2) ? dbus_message_new_method_return(call)
                             : below(2)
                                 ? dbus_message_new_error(call, PICK(NAMES), below(2) ? PICK(TEXTS) : NULL)
                                 : dbus_message_new_error_printf(call, "a.b", "%s %d", PICK(TEXTS), 7);
        dbus_message_unref(call);
        return reply;
    }
    }
}

/* Appends and reads arguments with the functions that have variable arguments. */
static void use_args(void) {
    DBusMessage *message = dbus_message_new_signal("/a", "a.b", "C");
    const char *text = PICK(TEXTS), *found, *texts[] = {"x", "y", "z"}, **texts_start = texts;
    dbus_int32_t numbers[] = {1, -2, 3}, *numbers_start = numbers;
    double real = 1.5;
    unsigned char byte = 7;
    dbus_uint16_t small = 300;
    dbus_bool_t truth = 1;
    int fd = 1;
    printf("\n append %d",
           dbus_message_append_args(message, 's', &text, 'a', 's', &texts_start, 3, 'a', 'i',
                                    &numbers_start, 3, 'd', &real, 'y', &byte, 'q', &small, 'b',
                                    &truth, 'h', &fd, 0));
    DBusError error = DBUS_ERROR_INIT;
    char **found_texts = NULL;
    dbus_int32_t *found_numbers = NULL;
    int n_texts = -1, n_numbers = -1, found_fd = -1;
    dbus_bool_t got = dbus_message_get_args(message, &error, 's', &found, 'a', 's', &found_texts,
                                            &n_texts, 'a', 'i', &found_numbers, &n_numbers, 'd',
                                            &real, 'y', &byte, 'q', &small, 'b', &truth, 'h',
                                            &found_fd, 0);
    printf(" get %d %s %d %s %d %d %g %d %d %d %d", got, found, n_texts, found_texts[2], n_numbers,
           found_numbers[1], real, byte, small, truth, found_fd >= 0);
    close(found_fd);
    dbus_free_string_array(found_texts);
#define FAILING(...)                                                                              \
    got = dbus_message_get_args(message, &error, __VA_ARGS__, 0);                                  \
    printf("\n fail %d %s|%s", got, shown(error.name), shown(error.message));                      \
    dbus_error_free(&error)
    FAILING('i', &n_texts);
    FAILING('s', &found, 's', &found);
    FAILING('s', &found, 'a', 'i', &found_numbers, &n_numbers);
    FAILING('s', &found, 'a', 's', &found_texts, &n_texts, 'u', &n_numbers);
    FAILING('s', &found, 'v', &found);
    dbus_message_unref(message);
    message = dbus_message_new_signal("/a", "a.b", "C");
    dbus_message_append_args(message, 's', &text, 0);
    FAILING('s', &found, 'i', &n_texts);
    FAILING('s', &found);
    dbus_message_unref(message);
    message = dbus_message_new_signal("/a", "a.b", "C");
    FAILING('s', &found);
    dbus_message_unref(message);
}

int main(int argc, char **argv) {
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435761u + 88172645463325252ull : 1;
    int count = argc > 2 ? atoi(argv[2]) : 100;
    for (int index = 0; index < count; index++) {
        printf("message %d ", index);
        DBusMessage *message = create();
        char signature[2000] = "";
        unsigned args = below(4);
        for (unsigned i = 0; i < args; i++)
            make_type(signature, 0, below(4) != 0);
        for (unsigned i = below(4); i > 0; i--)
            change_header(message);
        DBusMessageIter iter;
        dbus_message_iter_init_append(message, &iter);
        if (signature[0] != 0) {
            DBusSignatureIter types;
            dbus_signature_iter_init(&types, signature);
            append(&iter, &types, 0);
        }
        for (unsigned i = below(4); i > 0; i--)
            change_header(message);
        show(message);
        DBusMessage *copy = dbus_message_copy(message);
        show(copy);
        dbus_message_unref(copy);
        char *bytes = NULL;
        int len = -1;
        printf("\n marshal %d", dbus_message_marshal(message, &bytes, &len));
        printf(" %d ", len);
        for (int i = 0; i < len; i++)
            printf("%02x", (unsigned char)bytes[i]);
        demarshal(bytes, len, 0);
        demarshal(bytes, (int)below((unsigned)len), 0);
        /* Damaged messages must be accepted or rejected alike. */
        for (int i = 0; i < 5; i++) {
            char *damaged = malloc((size_t)len);
            memcpy(damaged, bytes, (size_t)len);
            damaged[8] |= 1;
            for (unsigned n = 1 + below(2); n > 0; n--)
                damaged[below((unsigned)len)] = (char)below(256);
            /* libdbus accepts unique names with an empty first element; the specification does not. */
            if (memmem(damaged, (size_t)len, ":.", 2) == NULL)
                demarshal(damaged, len, 0);
            free(damaged);
        }
        dbus_free(bytes);
        use_args();
        dbus_message_unref(message);
        printf("\n");
    }
    return 0;
}
