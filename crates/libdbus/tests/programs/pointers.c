/* Uses pointers from the library for as long as the documentation allows, or as programs do without
 * harm. It runs only with a tool that finds invalid accesses, and with our library. */

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DBusConnection *accepted;
static int freed;

static void accept_connection(DBusServer *server, DBusConnection *connection, void *data) {
    (void)server;
    (void)data;
    accepted = dbus_connection_ref(connection);
}

static dbus_bool_t add_watch(DBusWatch *watch, void *data) {
    *(DBusWatch **)data = watch;
    return 1;
}

static void remove_watch(DBusWatch *watch, void *data) {
    (void)watch;
    (void)data;
}

static void require(int condition, const char *text) {
    if (!condition) {
        printf("not true: %s\n", text);
        exit(1);
    }
}

static DBusHandlerResult answer(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)data;
    DBusMessage *reply = dbus_message_new_method_return(message);
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

/* Frees data that belongs to a connection, and uses the connection. */
static void free_with_connection(void *data) {
    freed += !dbus_connection_get_is_connected(*(DBusConnection **)data);
}

/* Values in the body of a message are appended to the same message. */
static void append_own_values(void) {
    DBusMessage *message = dbus_message_new_signal("/a", "a.b", "C");
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    const char *found = text;
    unsigned char bytes[500] = {1}, *array = bytes;
    int count = sizeof bytes;
    dbus_message_append_args(message, 's', &found, 'a', 'y', &array, count, 0);
    for (int i = 0; i < 6; i++) {
        dbus_message_get_args(message, NULL, 's', &found, 'a', 'y', &array, &count, 0);
        dbus_message_append_args(message, 's', &found, 0);
        dbus_message_get_args(message, NULL, 's', &found, 'a', 'y', &array, &count, 0);
        dbus_message_append_args(message, 'a', 'y', &array, count, 0);
    }
    require(strlen(dbus_message_get_signature(message)) == 21, "all values are appended");
    dbus_message_unref(message);
}

/* A borrowed message is also the reply that a call waits for. */
static void steal_awaited_reply(DBusConnection *client) {
    DBusMessage *call = dbus_message_new_method_call(NULL, "/a", NULL, "A");
    DBusPendingCall *pending = NULL;
    dbus_connection_send_with_reply(client, call, &pending, 20000);
    dbus_message_unref(call);
    dbus_connection_flush(client);
    while (dbus_connection_get_dispatch_status(accepted) != DBUS_DISPATCH_DATA_REMAINS)
        dbus_connection_read_write(accepted, 10);
    dbus_connection_dispatch(accepted);
    dbus_connection_flush(accepted);
    while (dbus_connection_get_dispatch_status(client) != DBUS_DISPATCH_DATA_REMAINS)
        dbus_connection_read_write(client, 10);
    DBusMessage *borrowed = dbus_connection_borrow_message(client);
    dbus_pending_call_block(pending);
    dbus_connection_steal_borrowed_message(client, borrowed);
    dbus_pending_call_unref(pending);
    require(dbus_message_get_type(borrowed) == DBUS_MESSAGE_TYPE_METHOD_RETURN, "it is a reply");
    dbus_message_unref(borrowed);
}

int main(void) {
    DBusWatch *listening = NULL;
    DBusServer *server = dbus_server_listen("unix:tmpdir=/tmp", NULL);
    dbus_server_set_watch_functions(server, add_watch, remove_watch, NULL, &listening, NULL);
    dbus_server_set_new_connection_function(server, accept_connection, NULL, NULL);
    char *address = dbus_server_get_address(server);
    DBusConnection *client = dbus_connection_open_private(address, NULL);
    dbus_free(address);
    dbus_watch_handle(listening, DBUS_WATCH_READABLE);
    while (!dbus_connection_get_is_authenticated(client) ||
           !dbus_connection_get_is_authenticated(accepted)) {
        dbus_connection_read_write(accepted, 10);
        dbus_connection_read_write(client, 10);
    }
    dbus_connection_add_filter(accepted, answer, &accepted, free_with_connection);
    append_own_values();
    steal_awaited_reply(client);

    dbus_bus_set_unique_name(client, ":1.1");
    const char *name = dbus_bus_get_unique_name(client);
    dbus_bus_set_unique_name(client, ":1.2");
    require(strcmp(name, ":1.1") == 0, "the first name is still there");
    require(strcmp(dbus_bus_get_unique_name(client), ":1.2") == 0, "the second name is set");

    dbus_int32_t slot = -1;
    dbus_connection_allocate_data_slot(&slot);
    dbus_connection_set_data(accepted, slot, &accepted, free_with_connection);
    dbus_connection_close(client);
    dbus_connection_unref(client);
    dbus_connection_close(accepted);
    dbus_connection_unref(accepted);
    require(freed == 2, "the data of the filter and of the slot are freed");
    dbus_connection_free_data_slot(&slot);
    dbus_server_disconnect(server);
    dbus_server_unref(server);
    printf("complete\n");
    return 0;
}
