/* The workload with libdbus: blocking calls, and its own loop for incoming messages. */

#include "bench.h"

#include <dbus/dbus.h>

struct connection {
    DBusConnection *bus;
};

static struct connection *connect_to(const char *address)
{
    struct connection *connection = allocate(sizeof *connection);
    DBusError error = DBUS_ERROR_INIT;
    connection->bus = dbus_connection_open_private(address, &error);
    if (connection->bus == NULL)
        fail("there is no connection to %s: %s", address, error.message);
    if (!dbus_bus_register(connection->bus, &error))
        fail("the bus does not register the connection: %s", error.message);
    return connection;
}

static const char *unique_name(struct connection *connection)
{
    return dbus_bus_get_unique_name(connection->bus);
}

static DBusHandlerResult answer(DBusConnection *bus, DBusMessage *message, void *unused)
{
    const char *text;
    (void)unused;
    if (!dbus_message_is_method_call(message, BENCH_INTERFACE, BENCH_METHOD))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    if (!dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    DBusMessage *reply = dbus_message_new_method_return(message);
    if (reply == NULL || !dbus_message_append_args(reply, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID)
        || !dbus_connection_send(bus, reply, NULL))
        fail("there is no memory for a reply");
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void add_echo(struct connection *connection)
{
    static const DBusObjectPathVTable methods = {.message_function = answer};
    if (!dbus_connection_register_object_path(connection->bus, BENCH_PATH, &methods, NULL))
        fail("there is no memory for an object");
}

_Noreturn static void serve_calls(struct connection *connection)
{
    while (dbus_connection_read_write_dispatch(connection->bus, -1))
        ;
    fail("the bus closed the connection");
}

static void call_echo(struct connection *connection, const char *destination, const char *text)
{
    DBusError error = DBUS_ERROR_INIT;
    const char *back;
    DBusMessage *message =
        dbus_message_new_method_call(destination, BENCH_PATH, BENCH_INTERFACE, BENCH_METHOD);
    if (message == NULL
        || !dbus_message_append_args(message, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        fail("there is no memory for a call");
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(
        connection->bus, message, DBUS_TIMEOUT_USE_DEFAULT, &error);
    if (reply == NULL)
        fail("the call failed: %s", error.message);
    if (!dbus_message_get_args(reply, &error, DBUS_TYPE_STRING, &back, DBUS_TYPE_INVALID))
        fail("the reply cannot be read: %s", error.message);
    if (strcmp(back, text) != 0)
        fail("the reply carries a different text than the call");
    dbus_message_unref(message);
    dbus_message_unref(reply);
}

/* The queue of libdbus is unlimited, so no message is refused. */
static enum emission emit_sample(struct connection *connection, uint64_t sent_ns,
                                 const uint8_t *payload, size_t size)
{
    dbus_uint64_t sent = sent_ns;
    DBusMessage *message = dbus_message_new_signal(BENCH_PATH, BENCH_INTERFACE, BENCH_SIGNAL);
    if (message == NULL
        || !dbus_message_append_args(message, DBUS_TYPE_UINT64, &sent, DBUS_TYPE_ARRAY,
                                     DBUS_TYPE_BYTE, &payload, (int)size, DBUS_TYPE_INVALID)
        || !dbus_connection_send(connection->bus, message, NULL))
        fail("there is no memory for a signal");
    dbus_message_unref(message);
    return EMITTED;
}

static void flush_samples(struct connection *connection)
{
    dbus_connection_flush(connection->bus);
    if (!dbus_connection_get_is_connected(connection->bus))
        fail("the bus closed the connection");
}

static DBusHandlerResult take(DBusConnection *bus, DBusMessage *message, void *listening)
{
    dbus_uint64_t sent_ns;
    const uint8_t *payload;
    int size;
    (void)bus;
    if (!dbus_message_is_signal(message, BENCH_INTERFACE, BENCH_SIGNAL))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    if (!dbus_message_get_args(message, NULL, DBUS_TYPE_UINT64, &sent_ns, DBUS_TYPE_ARRAY,
                               DBUS_TYPE_BYTE, &payload, &size, DBUS_TYPE_INVALID))
        fail("a signal cannot be read");
    listening_take(listening, sent_ns, (size_t)size);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void listen_to_samples(struct connection *connection, const char *sender,
                              struct listening *listening)
{
    DBusError error = DBUS_ERROR_INIT;
    char rule[512];
    snprintf(rule, sizeof rule,
             "type='signal',sender='%s',path='" BENCH_PATH "',interface='" BENCH_INTERFACE
             "',member='" BENCH_SIGNAL "'",
             sender);
    if (!dbus_connection_add_filter(connection->bus, take, listening, NULL))
        fail("there is no memory for a filter");
    dbus_bus_add_match(connection->bus, rule, &error);
    if (dbus_error_is_set(&error))
        fail("the bus does not take the match rule: %s", error.message);
    listening_ready(listening);
    while (!listening_over(listening))
        if (!dbus_connection_read_write_dispatch(connection->bus, LOOK_EACH_MS))
            fail("the bus closed the connection");
}
