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

/* org.example.Twice1 */
struct twice1_proxy {
    sd_bus *bus;
    const char *service;
    const char *path;
};

static inline struct twice1_proxy twice1_proxy_on(sd_bus *bus) {
    return (struct twice1_proxy) { bus, "org.example.Service", "/org/example/Object" };
}

/* M() */
static inline int twice1_m(
        const struct twice1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Twice1", "M");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* org.example.Self */
struct self_proxy {
    sd_bus *bus;
    const char *service;
    const char *path;
};

static inline struct self_proxy self_proxy_on(sd_bus *bus) {
    return (struct self_proxy) { bus, "org.example.Service", "/org/example/Object" };
}

/* org.example._1 */
struct n1_proxy {
    sd_bus *bus;
    const char *service;
    const char *path;
};

static inline struct n1_proxy n1_proxy_on(sd_bus *bus) {
    return (struct n1_proxy) { bus, "org.example.Service", "/org/example/Object" };
}

/* org.example.Hostile1
 *
 * * / int main() / * """ import os
 * ?�?/ \u0041 \
 * Deprecated.
 */
struct hostile1_proxy {
    sd_bus *bus;
    const char *service;
    const char *path;
};

static inline struct hostile1_proxy hostile1_proxy_on(sd_bus *bus) {
    return (struct hostile1_proxy) { bus, "org.example.Service", "/org/example/Object" };
}

/* Odd(s * / " \, s �, s 1, s a_b, s aB) */
static inline int hostile1_odd(
        const struct hostile1_proxy *proxy,
        const char *arg0,
        const char *arg1,
        const char *n1,
        const char *a_b,
        const char *a_b_2,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Odd");
    if (r >= 0)
        r = sd_bus_message_append(_m, "sssss", arg0, arg1, n1, a_b, a_b_2);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Same(s) */
static inline int hostile1_same(
        const struct hostile1_proxy *proxy,
        const char *arg0,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Same");
    if (r >= 0)
        r = sd_bus_message_append(_m, "s", arg0);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Same(u) */
static inline int hostile1_same_2(
        const struct hostile1_proxy *proxy,
        uint32_t arg0,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Same");
    if (r >= 0)
        r = sd_bus_message_append(_m, "u", arg0);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* same() */
static inline int hostile1_same_3(
        const struct hostile1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "same");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* _() */
static inline int hostile1_unnamed(
        const struct hostile1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "_");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* __init__() */
static inline int hostile1_init(
        const struct hostile1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "__init__");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Counted(ai list, u list_count) */
static inline int hostile1_counted(
        const struct hostile1_proxy *proxy,
        const int32_t *list, size_t list_count,
        uint32_t list_count_2,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Counted");
    if (r >= 0)
        r = sd_bus_message_append_array(
                _m, 'i', list, list_count * sizeof(*list));
    if (r >= 0)
        r = sd_bus_message_append(_m, "u", list_count_2);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Seventeen((yyyyyyyyyyyyyyyyy)) */
static inline int hostile1_seventeen(
        const struct hostile1_proxy *proxy,
        int (*arg0)(sd_bus_message *message, void *data), void *arg0_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Seventeen");
    if (r >= 0)
        r = arg0(_m, arg0_data);
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Keys() -> (a{hs}) */
static inline int hostile1_keys(
        const struct hostile1_proxy *proxy,
        int (*ret_result0)(sd_bus_message *message, void *data), void *ret_result0_data,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Keys");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    if (r >= 0 && sd_bus_message_has_signature(_reply, "a{hs}") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = ret_result0 ? ret_result0(_reply, ret_result0_data) : sd_bus_message_skip(_reply, "a{hs}");
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Property() */
static inline int hostile1_property(
        const struct hostile1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Property");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Bus() */
static inline int hostile1_bus(
        const struct hostile1_proxy *proxy,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.example.Hostile1", "Bus");
    if (r >= 0)
        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);
    sd_bus_message_unref(_m);
    sd_bus_message_unref(_reply);
    return r;
}

/* Same: s */
static inline int hostile1_get_same(
        const struct hostile1_proxy *proxy,
        const char **ret_value,
        sd_bus_message **ret_reply,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Hostile1",
            "Same", error, &_reply, "s");
    if (r >= 0)
        r = sd_bus_message_read(_reply, "s", ret_value);
    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;
    sd_bus_message_unref(_reply);
    return r;
}

/* Same: s */
static inline int hostile1_set_same(
        const struct hostile1_proxy *proxy,
        const char *value,
        sd_bus_error *error) {
    sd_bus_message *_m = NULL, *_reply = NULL;
    int r;

    r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0)
        r = sd_bus_message_append(_m, "ss", "org.example.Hostile1", "Same");
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

/* Twice: s */
static inline int hostile1_get_twice(
        const struct hostile1_proxy *proxy,
        const char **ret_value,
        sd_bus_message **ret_reply,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Hostile1",
            "Twice", error, &_reply, "s");
    if (r >= 0)
        r = sd_bus_message_read(_reply, "s", ret_value);
    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;
    sd_bus_message_unref(_reply);
    return r;
}

/* Keyed: a{sa{uv}} */
static inline int hostile1_get_keyed(
        const struct hostile1_proxy *proxy,
        int (*ret_value)(sd_bus_message *message, void *data), void *ret_value_data,
        sd_bus_error *error) {
    sd_bus_message *_reply = NULL;
    int r;

    r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, "org.example.Hostile1",
            "Keyed", error, &_reply, "a{sa{uv}}");
    if (r >= 0)
        r = ret_value ? ret_value(_reply, ret_value_data) : sd_bus_message_skip(_reply, "a{sa{uv}}");
    sd_bus_message_unref(_reply);
    return r;
}

/* String() */
static inline int hostile1_match_string(
        const struct hostile1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Hostile1", "String", handler, data);
}

/* type() */
static inline int hostile1_match_type(
        const struct hostile1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Hostile1", "type", handler, data);
}

/* Same() */
static inline int hostile1_match_same(
        const struct hostile1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Hostile1", "Same", handler, data);
}

/* Twice() */
static inline int hostile1_match_twice(
        const struct hostile1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Hostile1", "Twice", handler, data);
}

/* Descriptor(h) */
static inline int hostile1_match_descriptor(
        const struct hostile1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.example.Hostile1", "Descriptor", handler, data);
}

/* What Descriptor carries. */
static inline int hostile1_read_descriptor(
        sd_bus_message *message,
        int *ret_arg0) {
    int r = 0;

    if (r >= 0 && sd_bus_message_has_signature(message, "h") <= 0)
        r = -EBADMSG;
    if (r >= 0)
        r = sd_bus_message_read(message, "h", ret_arg0);
    return r;
}

/* Its arguments are the interface, new values (a{sv}) and names (as). */
static inline int hostile1_match_properties_changed(
        const struct hostile1_proxy *proxy,
        sd_bus_slot **slot,
        sd_bus_message_handler_t handler,
        void *data) {
    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,
            "org.freedesktop.DBus.Properties", "PropertiesChanged", handler, data);
}

/* Left out: method ") os.system("true: not a valid member name */
/* Left out: method * / x�y: not a valid member name */
/* Left out: method Types: its signature is invalid, or has several types */
/* Left out: method NoTypes: its signature is invalid, or has several types */
/* Left out: method Same: it is declared twice */
/* Left out: property Twice: it is declared twice */
/* Left out: property None: its signature is invalid, or has several types */
/* Left out: signal Twice: it is declared twice */

/* Left out: interface no interface"); drop();: not a valid interface name */

/* Left out: interface org.example.Twice1: it is declared twice */
