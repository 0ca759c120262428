#define _GNU_SOURCE
/* The functions with variable arguments. Stable Rust cannot define such functions, so they are
 * written in C on top of the functions with fixed arguments. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef uint32_t bool_t;
typedef struct Message Message;

/* The sizes are part of the interface: see DBusError and DBusMessageIter in the headers. */
typedef struct {
    const char *name, *message;
    unsigned int bits;
    void *padding;
} Error;

typedef struct {
    void *content[9];
} Iter;

#define INVALID_ARGS "org.freedesktop.DBus.Error.InvalidArgs"
#define TYPE_INVALID 0
#define TYPE_ARRAY 'a'

void diligence_set_error(Error *error, const char *name, const char *message);
const char *diligence_type_name(int type);
bool_t diligence_fd_is_missing(Iter *iter, int *index, int *count);
Message *dbus_message_new_error(Message *reply_to, const char *name, const char *message);
bool_t dbus_message_iter_init(Message *message, Iter *iter);
void dbus_message_iter_init_append(Message *message, Iter *iter);
bool_t dbus_message_iter_append_basic(Iter *iter, int type, const void *value);
bool_t dbus_message_iter_append_fixed_array(Iter *iter, int type, const void *value, int count);
bool_t dbus_message_iter_open_container(Iter *iter, int type, const char *contained, Iter *sub);
bool_t dbus_message_iter_close_container(Iter *iter, Iter *sub);
void dbus_message_iter_abandon_container(Iter *iter, Iter *sub);
int dbus_message_iter_get_arg_type(Iter *iter);
int dbus_message_iter_get_element_type(Iter *iter);
int dbus_message_iter_get_element_count(Iter *iter);
void dbus_message_iter_recurse(Iter *iter, Iter *sub);
void dbus_message_iter_get_basic(Iter *iter, void *value);
void dbus_message_iter_get_fixed_array(Iter *iter, void *value, int *count);
bool_t dbus_message_iter_next(Iter *iter);
bool_t dbus_type_is_basic(int type);
bool_t dbus_type_is_fixed(int type);
void dbus_free_string_array(char **array);
void *dbus_malloc0(size_t bytes);

/* Returns the formatted text in memory from malloc(3). */
static char *format_text(const char *format, va_list args) {
    char *text = NULL;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

static void set_error_args(Error *error, const char *name, const char *format, va_list args) {
    if (error == NULL)
        return;
    char *text = format == NULL ? NULL : format_text(format, args);
    diligence_set_error(error, name, text);
    free(text);
}

void dbus_set_error(Error *error, const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set_error_args(error, name, format, args);
    va_end(args);
}

void _dbus_set_error_valist(Error *error, const char *name, const char *format, va_list args) {
    set_error_args(error, name, format, args);
}

Message *dbus_message_new_error_printf(Message *reply_to, const char *name, const char *format,
                                       ...) {
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    Message *message = text == NULL ? NULL : dbus_message_new_error(reply_to, name, text);
    free(text);
    return message;
}

static int is_text(int type) { return type == 's' || type == 'o' || type == 'g'; }

/* Appends an array argument: an element type, a pointer to the array, and a number. */
static bool_t append_array(Iter *iter, va_list *args) {
    int element = va_arg(*args, int);
    char contained[2] = {(char)element, 0};
    Iter sub;
    if (is_text(element)) {
        const char *const *texts = *va_arg(*args, const char *const **);
        int count = va_arg(*args, int);
        if (!dbus_message_iter_open_container(iter, TYPE_ARRAY, contained, &sub))
            return 0;
        for (int i = 0; i < count; i++) {
            if (!dbus_message_iter_append_basic(&sub, element, &texts[i])) {
                dbus_message_iter_abandon_container(iter, &sub);
                return 0;
            }
        }
        return dbus_message_iter_close_container(iter, &sub);
    }
    if (dbus_type_is_fixed(element) && element != 'h') {
        const void *values = va_arg(*args, const void *);
        int count = va_arg(*args, int);
        if (!dbus_message_iter_open_container(iter, TYPE_ARRAY, contained, &sub))
            return 0;
        if (!dbus_message_iter_append_fixed_array(&sub, element, values, count)) {
            dbus_message_iter_abandon_container(iter, &sub);
            return 0;
        }
        return dbus_message_iter_close_container(iter, &sub);
    }
    fprintf(stderr, "arrays of %s can't be appended with dbus_message_append_args for now\n",
            diligence_type_name(element));
    return 0;
}

static bool_t append_args(Message *message, int type, va_list *args) {
    Iter iter;
    dbus_message_iter_init_append(message, &iter);
    for (; type != TYPE_INVALID; type = va_arg(*args, int)) {
        bool_t appended = 0;
        if (type == TYPE_ARRAY)
            appended = append_array(&iter, args);
        else if (dbus_type_is_basic(type))
            appended = dbus_message_iter_append_basic(&iter, type, va_arg(*args, const void *));
        else
            fprintf(stderr, "type %s isn't supported yet in dbus_message_append_args_valist\n",
                    diligence_type_name(type));
        if (!appended)
            return 0;
    }
    return 1;
}

bool_t dbus_message_append_args_valist(Message *message, int first_type, va_list args) {
    if (message == NULL)
        return 0;
    va_list copy;
    va_copy(copy, args);
    bool_t appended = append_args(message, first_type, &copy);
    va_end(copy);
    return appended;
}

bool_t dbus_message_append_args(Message *message, int first_type, ...) {
    va_list args;
    va_start(args, first_type);
    bool_t appended = dbus_message_append_args_valist(message, first_type, args);
    va_end(args);
    return appended;
}

/* Copies the strings of an array. */
static char **copy_texts(Iter *iter, int count) {
    char **texts = dbus_malloc0(((size_t)count + 1) * sizeof(char *));
    Iter sub;
    dbus_message_iter_recurse(iter, &sub);
    for (int i = 0; texts != NULL && i < count; i++) {
        const char *text;
        dbus_message_iter_get_basic(&sub, &text);
        size_t len = 0;
        while (text[len] != 0)
            len++;
        char *copy = malloc(len + 1);
        if (copy == NULL) {
            dbus_free_string_array(texts);
            return NULL;
        }
        for (size_t at = 0; at <= len; at++)
            copy[at] = text[at];
        texts[i] = copy;
        dbus_message_iter_next(&sub);
    }
    return texts;
}

/* Reads one array argument. */
static bool_t get_array(Iter *iter, Error *error, int index, va_list *args) {
    int element = va_arg(*args, int);
    int found = dbus_message_iter_get_element_type(iter);
    if (found != element) {
        char text[160];
        snprintf(text, sizeof text,
                 "Argument %d is specified to be an array of \"%s\", but is actually an array of "
                 "\"%s\"\n",
                 index, diligence_type_name(element), diligence_type_name(found));
        diligence_set_error(error, INVALID_ARGS, text);
        return 0;
    }
    if (dbus_type_is_fixed(element) && element != 'h') {
        void *values = va_arg(*args, void *);
        int *count = va_arg(*args, int *);
        Iter sub;
        dbus_message_iter_recurse(iter, &sub);
        dbus_message_iter_get_fixed_array(&sub, values, count);
        return 1;
    }
    if (is_text(element)) {
        char ***place = va_arg(*args, char ***);
        int *count_place = va_arg(*args, int *);
        int count = dbus_message_iter_get_element_count(iter);
        char **texts = copy_texts(iter, count);
        if (texts == NULL) {
            diligence_set_error(error, "org.freedesktop.DBus.Error.NoMemory", NULL);
            return 0;
        }
        *place = texts;
        *count_place = count;
        return 1;
    }
    char text[160];
    snprintf(text, sizeof text,
             "you can't read arrays of container types (struct, variant, array) with %s for now\n",
             "dbus_message_get_args");
    diligence_set_error(error, INVALID_ARGS, text);
    return 0;
}

/* Reads one argument. */
static bool_t get_arg(Iter *iter, Error *error, int index, int type, va_list *args) {
    int found = dbus_message_iter_get_arg_type(iter);
    char text[160];
    if (found != type) {
        snprintf(text, sizeof text,
                 "Argument %d is specified to be of type \"%s\", but is actually of type "
                 "\"%s\"\n",
                 index, diligence_type_name(type), diligence_type_name(found));
        diligence_set_error(error, INVALID_ARGS, text);
        return 0;
    }
    int fd_index, fd_count;
    if (type == 'h' && diligence_fd_is_missing(iter, &fd_index, &fd_count)) {
        snprintf(text, sizeof text,
                 "Message refers to file descriptor at index %i,but has only %i descriptors "
                 "attached.\n",
                 fd_index, fd_count);
        diligence_set_error(error, "org.freedesktop.DBus.Error.InconsistentMessage", text);
        return 0;
    }
    if (dbus_type_is_basic(type)) {
        void *place = va_arg(*args, void *);
        if (place != NULL)
            dbus_message_iter_get_basic(iter, place);
        return 1;
    }
    if (type == TYPE_ARRAY)
        return get_array(iter, error, index, args);
    snprintf(text, sizeof text, "you can only read arrays and basic types with %s for now\n",
             "dbus_message_get_args");
    diligence_set_error(error, INVALID_ARGS, text);
    return 0;
}

/* Frees what the first `count` arguments have allocated. */
static void release_args(int type, int count, va_list *args) {
    for (; count > 0; count--, type = va_arg(*args, int)) {
        if (type == TYPE_ARRAY) {
            int element = va_arg(*args, int);
            char ***place = va_arg(*args, char ***);
            (void)va_arg(*args, int *);
            if (is_text(element)) {
                dbus_free_string_array(*place);
                *place = NULL;
            }
        } else {
            int *place = va_arg(*args, int *);
            if (type == 'h' && place != NULL) {
                close(*place);
                *place = -1;
            }
        }
    }
}

bool_t dbus_message_get_args_valist(Message *message, Error *error, int first_type,
                                    va_list args) {
    if (message == NULL)
        return 0;
    va_list reading, releasing;
    va_copy(reading, args);
    va_copy(releasing, args);
    Iter iter;
    int done = 0;
    bool_t complete = 1;
    dbus_message_iter_init(message, &iter);
    for (int type = first_type; type != TYPE_INVALID && complete;) {
        complete = get_arg(&iter, error, done, type, &reading);
        if (!complete)
            break;
        done++;
        type = va_arg(reading, int);
        if (!dbus_message_iter_next(&iter) && type != TYPE_INVALID) {
            char text[80];
            snprintf(text, sizeof text,
                     "Message has only %d arguments, but more were expected", done);
            diligence_set_error(error, INVALID_ARGS, text);
            complete = 0;
        }
    }
    if (!complete)
        release_args(first_type, done, &releasing);
    va_end(releasing);
    va_end(reading);
    return complete;
}

bool_t dbus_message_get_args(Message *message, Error *error, int first_type, ...) {
    va_list args;
    va_start(args, first_type);
    bool_t complete = dbus_message_get_args_valist(message, error, first_type, args);
    va_end(args);
    return complete;
}
