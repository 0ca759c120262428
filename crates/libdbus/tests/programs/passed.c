/* Listens at the socket that a service manager has passed, and connects to it. */

#include <dbus/dbus.h>
#include <stdio.h>
#include <string.h>

static DBusWatch *readable;

static void new_connection(DBusServer *server, DBusConnection *connection, void *data) {
    (void)server;
    (void)connection;
    ++*(int *)data;
}

static dbus_bool_t add_watch(DBusWatch *watch, void *data) {
    (void)data;
    readable = watch;
    return 1;
}

static void remove_watch(DBusWatch *watch, void *data) {
    (void)watch;
    (void)data;
}

int main(void) {
    DBusError error = DBUS_ERROR_INIT;
    int connections = 0;
    DBusServer *server = dbus_server_listen("systemd:", &error);
    if (server == NULL) {
        printf("%s: %s\n", error.name, error.message);
        dbus_error_free(&error);
        return 0;
    }
    char *address = dbus_server_get_address(server);
    printf("%.*s\n", (int)(strstr(address, ",guid=") - address), address);
    dbus_server_set_new_connection_function(server, new_connection, &connections, NULL);
    dbus_server_set_watch_functions(server, add_watch, remove_watch, NULL, NULL, NULL);
    DBusConnection *client = dbus_connection_open_private(address, &error);
    dbus_watch_handle(readable, DBUS_WATCH_READABLE);
    printf("connected %d accepted %d\n", client != NULL, connections);
    dbus_connection_close(client);
    dbus_connection_unref(client);
    dbus_server_disconnect(server);
    dbus_server_unref(server);
    dbus_free(address);
    return 0;
}
