/* The stream with libdbus: blocking calls, and its own loop for incoming messages. */

#include "stream.h"

#include <dbus/dbus.h>

static DBusConnection *bus;

static void connect_to(const char *address)
{
    DBusError error = DBUS_ERROR_INIT;
    bus = dbus_connection_open_private(address, &error);
    if (bus == NULL || !dbus_bus_register(bus, &error))
        fail("there is no connection to %s: %s", address, error.message);
    dbus_connection_set_exit_on_disconnect(bus, FALSE);
}

static DBusHandlerResult answer(DBusMessage *message)
{
    DBusError error = DBUS_ERROR_INIT;
    dbus_uint32_t number;
    const uint8_t *body;
    int size, descriptor = -1;
    bool has_file = dbus_message_has_member(message, "EchoFile");
    if (!dbus_message_get_args(message, &error, DBUS_TYPE_UINT32, &number, DBUS_TYPE_ARRAY,
                               DBUS_TYPE_BYTE, &body, &size,
                               has_file ? DBUS_TYPE_UNIX_FD : DBUS_TYPE_INVALID, &descriptor,
                               DBUS_TYPE_INVALID))
        fail("a call cannot be read: %s", error.message);
    take_call(number, body, (size_t)size, descriptor);
    if (descriptor >= 0)
        close(descriptor);
    DBusMessage *reply = dbus_message_new_method_return(message);
    dbus_message_append_args(reply, DBUS_TYPE_UINT32, &number, DBUS_TYPE_INVALID);
    dbus_connection_send(bus, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static DBusHandlerResult take(DBusConnection *connection, DBusMessage *message, void *unused)
{
    dbus_uint32_t number;
    (void)connection, (void)unused;
    if (!dbus_message_has_interface(message, INTERFACE))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL)
        return answer(message);
    if (!dbus_message_get_args(message, NULL, DBUS_TYPE_UINT32, &number, DBUS_TYPE_INVALID))
        fail("a signal cannot be read");
    dbus_message_has_member(message, "Done") ? take_end(number) : take_signal(number);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void serve(void)
{
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_connection_add_filter(bus, take, NULL, NULL))
        fail("there is no memory for a filter");
    dbus_bus_add_match(bus, "type='signal',interface='" INTERFACE "',path='" PATH "'", &error);
    if (dbus_error_is_set(&error) || dbus_bus_request_name(bus, NAME, 0, &error) < 0)
        fail("the bus refuses a rule or the name: %s", error.message);
    puts("ready");
    fflush(stdout);
    while (dbus_connection_read_write_dispatch(bus, -1))
        ;
    fail("the bus closed the connection");
}

static void emit(const char *member, uint32_t number)
{
    DBusMessage *message = dbus_message_new_signal(PATH, INTERFACE, member);
    if (message == NULL
        || !dbus_message_append_args(message, DBUS_TYPE_UINT32, &number, DBUS_TYPE_INVALID)
        || !dbus_connection_send(bus, message, NULL))
        fail("there is no memory for a signal");
    dbus_message_unref(message);
}

static uint32_t call(const char *member, uint32_t number, const uint8_t *body, size_t size,
                     int descriptor)
{
    DBusError error = DBUS_ERROR_INIT;
    dbus_uint32_t returned;
    DBusMessage *message = dbus_message_new_method_call(NAME, PATH, INTERFACE, member);
    if (message == NULL
        || !dbus_message_append_args(message, DBUS_TYPE_UINT32, &number, DBUS_TYPE_ARRAY,
                                     DBUS_TYPE_BYTE, &body, (int)size,
                                     descriptor >= 0 ? DBUS_TYPE_UNIX_FD : DBUS_TYPE_INVALID,
                                     &descriptor, DBUS_TYPE_INVALID))
        fail("there is no memory for a call");
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(
        bus, message, DBUS_TIMEOUT_USE_DEFAULT, &error);
    if (reply == NULL
        || !dbus_message_get_args(reply, &error, DBUS_TYPE_UINT32, &returned, DBUS_TYPE_INVALID))
        fail("the call failed: %s", error.message);
    dbus_message_unref(message);
    dbus_message_unref(reply);
    return returned;
}

static void flush(void)
{
    dbus_connection_flush(bus);
    if (!dbus_connection_get_is_connected(bus))
        fail("the bus closed the connection");
}
