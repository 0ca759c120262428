/*
 * What /org/example/Object of org.example.Service has, as it says itself.
 * Made by `diligence introspect --code`; a beginning, yours to change.
 *
 * Functions return a negative error number if something went wrong. Texts, arrays of numbers and
 * descriptors that came with an answer belong to it: it is put into *ret_reply, to be given to
 * sd_bus_message_unref() when they are not needed any more. A list of texts is the caller's, as is each
 * of its texts. What C has no type for is appended and read by a function of yours, which has to do so
 * with the whole value and returns a negative number if it cannot; with NULL it is passed over in reading.
 */

#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* org.example.Types1
 *
 * org.example.Types1:
 * @short_description: Values of every type
 *
 * Gives back what it gets.
 */
struct example_types1_proxy {
    sd_bus *bus;
    const char *service;
    const char *path;
};

static inline struct example_types1_proxy example_types1_proxy_on(sd_bus *bus) {
    return (struct example_types1_proxy) { bus, "org.example.Service", "/org/example/Object" };
}

/* EchoNumbers(y byte, b truth, n short, q unsignedShort, i int, u unsigned, x long, t ULong, d double) -> (y byte, b truth, n short, q unsignedShort, i int, u unsigned, x long, t ULong, d double)
 *
 * Gives back numbers. "Quoted", with a \ and an end of comments: * /
 */
static inline int example_types1_echo_numbers(
        const struct example_types1_proxy *proxy,
        uint8_t byte,
        int truth,
        int16_t short_,
        uint16_t unsigned_short,
        int32_t int_,
        uint32_t unsigned_,
        int64_t long_,
        uint64_t u_long,
        double double_,
        uint8_t *ret_byte,
        int *ret_truth,
        int16_t *ret_short,
        uint16_t *ret_unsigned_short,
        int32_t *ret_int,
        uint32_t *ret_unsigned,
        int64_t *ret_long,
        uint64_t *ret_u_long,
        double *ret_double,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoNumbers");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ybnqiuxtd", byte, truth, short_, unsigned_short, int_, unsigned_, long_, u_long, double_);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "ybnqiuxtd") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = sd_bus_message_read(_reply, "ybnqiuxtd", ret_byte, ret_truth, ret_short, ret_unsigned_short, ret_int, ret_unsigned, ret_long, ret_u_long, ret_double);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoTexts(s text, o path, g types) -> (s text, o path, g types) */
static inline int example_types1_echo_texts(
        const struct example_types1_proxy *proxy,
        const char *text,
        const char *path,
        const char *types,
        const char **ret_text,
        const char **ret_path,
        const char **ret_types,
        sd_bus_message **ret_reply,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoTexts");
    if (r >= 0)
        r = sd_bus_message_append(_m, "sog", text, path, types);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "sog") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = sd_bus_message_read(_reply, "sog", ret_text, ret_path, ret_types);
    sd_bus_message_unref(_m);
    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoVariant(v value) -> (v value) */
static inline int example_types1_echo_variant(
        const struct example_types1_proxy *proxy,
        int (*value)(sd_bus_message *message, void *data), void *value_data,
        int (*ret_value)(sd_bus_message *message, void *data), void *ret_value_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoVariant");
    if (r >= 0)
        r = value(_m, value_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "v") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = ret_value ? ret_value(_reply, ret_value_data) : sd_bus_message_skip(_reply, "v");
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoLists(ay, as, ai, ab, aai, ao) -> (ay, as, ai, ab, aai, ao) */
static inline int example_types1_echo_lists(
        const struct example_types1_proxy *proxy,
        const uint8_t *arg0, size_t arg0_count,
        char **arg1,
        const int32_t *arg2, size_t arg2_count,
        int (*arg3)(sd_bus_message *message, void *data), void *arg3_data,
        int (*arg4)(sd_bus_message *message, void *data), void *arg4_data,
        int (*arg5)(sd_bus_message *message, void *data), void *arg5_data,
        const uint8_t **ret_result0, size_t *ret_result0_count,
        char ***ret_result1,
        const int32_t **ret_result2, size_t *ret_result2_count,
        int (*ret_result3)(sd_bus_message *message, void *data), void *ret_result3_data,
        int (*ret_result4)(sd_bus_message *message, void *data), void *ret_result4_data,
        int (*ret_result5)(sd_bus_message *message, void *data), void *ret_result5_data,
        sd_bus_message **ret_reply,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoLists");
    if (r >= 0)
        r = sd_bus_message_append_array(
                _m, 'y', arg0, arg0_count * sizeof(*arg0));
    if (r >= 0)
        r = sd_bus_message_append_strv(_m, arg1);
    if (r >= 0)
        r = sd_bus_message_append_array(
                _m, 'i', arg2, arg2_count * sizeof(*arg2));
    if (r >= 0)
        r = arg3(_m, arg3_data);
    if (r >= 0)
        r = arg4(_m, arg4_data);
    if (r >= 0)
        r = arg5(_m, arg5_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "ayasaiabaaiao") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = sd_bus_message_read_array(
                _reply, 'y', (const void **) ret_result0, ret_result0_count);
    if (r >= 0)
        *ret_result0_count /= sizeof(**ret_result0);
    if (r >= 0)
        r = sd_bus_message_read_strv(_reply, ret_result1);
    if (r >= 0)
        r = sd_bus_message_read_array(
                _reply, 'i', (const void **) ret_result2, ret_result2_count);
    if (r >= 0)
        *ret_result2_count /= sizeof(**ret_result2);
    if (r >= 0)
        r = ret_result3 ? ret_result3(_reply, ret_result3_data) : sd_bus_message_skip(_reply, "ab");
    if (r >= 0)
        r = ret_result4 ? ret_result4(_reply, ret_result4_data) : sd_bus_message_skip(_reply, "aai");
    if (r >= 0)
        r = ret_result5 ? ret_result5(_reply, ret_result5_data) : sd_bus_message_skip(_reply, "ao");
    sd_bus_message_unref(_m);
    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoStruct((si) pair) -> ((si) pair) */
static inline int example_types1_echo_struct(
        const struct example_types1_proxy *proxy,
        int (*pair)(sd_bus_message *message, void *data), void *pair_data,
        int (*ret_pair)(sd_bus_message *message, void *data), void *ret_pair_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoStruct");
    if (r >= 0)
        r = pair(_m, pair_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "(si)") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = ret_pair ? ret_pair(_reply, ret_pair_data) : sd_bus_message_skip(_reply, "(si)");
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoNested(a{sv} dict, a{oa{sa{sv}}} tree, a(s(bv)ay) structs) -> (a{sv} dict, a{oa{sa{sv}}} tree, a(s(bv)ay) structs) */
static inline int example_types1_echo_nested(
        const struct example_types1_proxy *proxy,
        int (*dict)(sd_bus_message *message, void *data), void *dict_data,
        int (*tree)(sd_bus_message *message, void *data), void *tree_data,
        int (*structs)(sd_bus_message *message, void *data), void *structs_data,
        int (*ret_dict)(sd_bus_message *message, void *data), void *ret_dict_data,
        int (*ret_tree)(sd_bus_message *message, void *data), void *ret_tree_data,
        int (*ret_structs)(sd_bus_message *message, void *data), void *ret_structs_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoNested");
    if (r >= 0)
        r = dict(_m, dict_data);
    if (r >= 0)
        r = tree(_m, tree_data);
    if (r >= 0)
        r = structs(_m, structs_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "a{sv}a{oa{sa{sv}}}a(s(bv)ay)") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = ret_dict ? ret_dict(_reply, ret_dict_data) : sd_bus_message_skip(_reply, "a{sv}");
    if (r >= 0)
        r = ret_tree ? ret_tree(_reply, ret_tree_data) : sd_bus_message_skip(_reply, "a{oa{sa{sv}}}");
    if (r >= 0)
        r = ret_structs ? ret_structs(_reply, ret_structs_data) : sd_bus_message_skip(_reply, "a(s(bv)ay)");
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoDescriptors(h one, a(sh) more) -> (h one, a(sh) more) */
static inline int example_types1_echo_descriptors(
        const struct example_types1_proxy *proxy,
        int one,
        int (*more)(sd_bus_message *message, void *data), void *more_data,
        int *ret_one,
        int (*ret_more)(sd_bus_message *message, void *data), void *ret_more_data,
        sd_bus_message **ret_reply,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoDescriptors");
    if (r >= 0)
        r = sd_bus_message_append(_m, "h", one);
    if (r >= 0)
        r = more(_m, more_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "ha(sh)") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = sd_bus_message_read(_reply, "h", ret_one);
    if (r >= 0)
        r = ret_more ? ret_more(_reply, ret_more_data) : sd_bus_message_skip(_reply, "a(sh)");
    sd_bus_message_unref(_m);
    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;
    sd_bus_message_unref(_reply);
    return r;
}

/* EchoByNumber(a{ds} numbers) -> (a{ds} numbers)
 *
 * A key that Rust has no map for.
 */
static inline int example_types1_echo_by_number(
        const struct example_types1_proxy *proxy,
        int (*numbers)(sd_bus_message *message, void *data), void *numbers_data,
        int (*ret_numbers)(sd_bus_message *message, void *data), void *ret_numbers_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EchoByNumber");
    if (r >= 0)
        r = numbers(_m, numbers_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "a{ds}") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = ret_numbers ? ret_numbers(_reply, ret_numbers_data) : sd_bus_message_skip(_reply, "a{ds}");
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Nothing() */
static inline int example_types1_nothing(
        const struct example_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "Nothing");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Refuse() */
static inline int example_types1_refuse(
        const struct example_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "Refuse");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* EmitChanged() */
static inline int example_types1_emit_changed(
        const struct example_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "EmitChanged");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Forget(s what) */
static inline int example_types1_forget(
        const struct example_types1_proxy *proxy,
        const char *what) {
    sd_bus_message *_m = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "Forget");
    if (r >= 0)
        r = sd_bus_message_append(_m, "s", what);
    if (r >= 0)
        r = sd_bus_message_set_expect_reply(_m, 0);
    if (r >= 0)
        r = sd_bus_send(proxy->bus, _m, NULL);
    sd_bus_message_unref(_m);
    return r;
}

/* GetAllXYZ(s from, s type, s class, s self)
 *
 * Deprecated.
 */
__attribute__((deprecated))
static inline int example_types1_get_all_xyz(
        const struct example_types1_proxy *proxy,
        const char *from,
        const char *type,
        const char *class_,
        const char *self,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "GetAllXYZ");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ssss", from, type, class_, self);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* import() */
static inline int example_types1_import(
        const struct example_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "import");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Match() */
static inline int example_types1_match(
        const struct example_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "Match");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* New() */
static inline int example_types1_new(
        const struct example_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "New");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* SetLevel(u level) */
static inline int example_types1_set_level(
        const struct example_types1_proxy *proxy,
        uint32_t level,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Types1", "SetLevel");
    if (r >= 0)
        r = sd_bus_message_append(_m, "u", level);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Level: u
 *
 * How loud it is.
 */
static inline int example_types1_get_level(
        const struct example_types1_proxy *proxy,
        uint32_t *ret_value,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Types1",
            "Level", error, &_reply, "u");
    if (r >= 0)
        r = sd_bus_message_read(_reply, "u", ret_value);
    sd_bus_message_unref(_reply);
    return r;
}

/* Level: u
 *
 * How loud it is.
 */
static inline int example_types1_set_level_2(
        const struct example_types1_proxy *proxy,
        uint32_t value,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ss", "org.example.Types1", "Level");
    if (r >= 0)
        r = sd_bus_message_open_container(_m, 'v', "u");
    if (r >= 0)
        r = sd_bus_message_append(_m, "u", value);
    if (r >= 0)
        r = sd_bus_message_close_container(_m);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Names: as; changes are announced without the value */
static inline int example_types1_get_names(
        const struct example_types1_proxy *proxy,
        char ***ret_value,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Types1",
            "Names", error, &_reply, "as");
    if (r >= 0)
        r = sd_bus_message_read_strv(_reply, ret_value);
    sd_bus_message_unref(_reply);
    return r;
}

/* Names: as; changes are announced without the value */
static inline int example_types1_set_names(
        const struct example_types1_proxy *proxy,
        char **value,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ss", "org.example.Types1", "Names");
    if (r >= 0)
        r = sd_bus_message_open_container(_m, 'v', "as");
    if (r >= 0)
        r = sd_bus_message_append_strv(_m, value);
    if (r >= 0)
        r = sd_bus_message_close_container(_m);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Options: a{sv}; changes are not announced */
static inline int example_types1_get_options(
        const struct example_types1_proxy *proxy,
        int (*ret_value)(sd_bus_message *message, void *data), void *ret_value_data,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Types1",
            "Options", error, &_reply, "a{sv}");
    if (r >= 0)
        r = ret_value ? ret_value(_reply, ret_value_data) : sd_bus_message_skip(_reply, "a{sv}");
    sd_bus_message_unref(_reply);
    return r;
}

/* Options: a{sv}; changes are not announced */
static inline int example_types1_set_options(
        const struct example_types1_proxy *proxy,
        int (*value)(sd_bus_message *message, void *data), void *value_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ss", "org.example.Types1", "Options");
    if (r >= 0)
        r = sd_bus_message_open_container(_m, 'v', "a{sv}");
    if (r >= 0)
        r = value(_m, value_data);
    if (r >= 0)
        r = sd_bus_message_close_container(_m);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Pair: (si) */
static inline int example_types1_get_pair(
        const struct example_types1_proxy *proxy,
        int (*ret_value)(sd_bus_message *message, void *data), void *ret_value_data,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Types1",
            "Pair", error, &_reply, "(si)");
    if (r >= 0)
        r = ret_value ? ret_value(_reply, ret_value_data) : sd_bus_message_skip(_reply, "(si)");
    sd_bus_message_unref(_reply);
    return r;
}

/* Pair: (si) */
static inline int example_types1_set_pair(
        const struct example_types1_proxy *proxy,
        int (*value)(sd_bus_message *message, void *data), void *value_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ss", "org.example.Types1", "Pair");
    if (r >= 0)
        r = sd_bus_message_open_container(_m, 'v', "(si)");
    if (r >= 0)
        r = value(_m, value_data);
    if (r >= 0)
        r = sd_bus_message_close_container(_m);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Version: s; it never changes
 *
 * Deprecated.
 */
__attribute__((deprecated))
static inline int example_types1_get_version(
        const struct example_types1_proxy *proxy,
        const char **ret_value,
        sd_bus_message **ret_reply,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Types1",
            "Version", error, &_reply, "s");
    if (r >= 0)
        r = sd_bus_message_read(_reply, "s", ret_value);
    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;
    sd_bus_message_unref(_reply);
    return r;
}

/* Secret: s */
static inline int example_types1_set_secret(
        const struct example_types1_proxy *proxy,
        const char *value,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ss", "org.example.Types1", "Secret");
    if (r >= 0)
        r = sd_bus_message_open_container(_m, 'v', "s");
    if (r >= 0)
        r = sd_bus_message_append(_m, "s", value);
    if (r >= 0)
        r = sd_bus_message_close_container(_m);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Changed(s text, ay bytes, a{sv} dict) */
static inline int example_types1_match_changed(
        const struct example_types1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Types1", "Changed", handler, data);
}

/* What Changed carries. */
static inline int example_types1_read_changed(
        sd_bus_message *message,
        const char **ret_text,
        const uint8_t **ret_bytes, size_t *ret_bytes_count,
        int (*ret_dict)(sd_bus_message *message, void *data), void *ret_dict_data) {
    int r = 0;

    if (r >= 0 && sd_bus_message_has_signature(message, "saya{sv}") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = sd_bus_message_read(message, "s", ret_text);
    if (r >= 0)
        r = sd_bus_message_read_array(
                message, 'y', (const void **) ret_bytes, ret_bytes_count);
    if (r >= 0)
        *ret_bytes_count /= sizeof(**ret_bytes);
    if (r >= 0)
        r = ret_dict ? ret_dict(message, ret_dict_data) : sd_bus_message_skip(message, "a{sv}");
    return r;
}

/* StructChanged((si) pair) */
static inline int example_types1_match_struct_changed(
        const struct example_types1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Types1", "StructChanged", handler, data);
}

/* What StructChanged carries. */
static inline int example_types1_read_struct_changed(
        sd_bus_message *message,
        int (*ret_pair)(sd_bus_message *message, void *data), void *ret_pair_data) {
    int r = 0;

    if (r >= 0 && sd_bus_message_has_signature(message, "(si)") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = ret_pair ? ret_pair(message, ret_pair_data) : sd_bus_message_skip(message, "(si)");
    return r;
}

/* Bare() */
static inline int example_types1_match_bare(
        const struct example_types1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Types1", "Bare", handler, data);
}

/* Its arguments are the interface, new values (a{sv}) and names (as). */
static inline int example_types1_match_properties_changed(
        const struct example_types1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "PropertiesChanged", handler, data);
}

/* org.example.other.Types1 */
struct other_types1_proxy {
    sd_bus *bus;
    const char *service;
    const char *path;
};

static inline struct other_types1_proxy other_types1_proxy_on(sd_bus *bus) {
    return (struct other_types1_proxy) { bus, "org.example.Service", "/org/example/Object" };
}

/* Nothing() */
static inline int other_types1_nothing(
        const struct other_types1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.other.Types1", "Nothing");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Changed() */
static inline int other_types1_match_changed(
        const struct other_types1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.other.Types1", "Changed", handler, data);
}
