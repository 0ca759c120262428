/* Uses shared and private connections to the session bus, and calls all methods of the bus for which
 * libdbus has a function. The tests compare the output for two libraries. */

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DBusError error = DBUS_ERROR_INIT;

/* Prints the error of the last call. */
static void finish(void) {
    printf(" %s | %s\n", error.name == NULL ? "-" : error.name,
           error.message == NULL ? "-" : error.message);
    dbus_error_free(&error);
}

static DBusHandlerResult count_signals(DBusConnection *connection, DBusMessage *message,
                                       void *data) {
    (void)connection;
    if (dbus_message_is_signal(message, "com.example.Interface", "Signal"))
        ++*(int *)data;
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

/* Main loops rely on the status that they are notified of. */
static void check_status(DBusConnection *connection, DBusDispatchStatus status, void *data) {
    ++*(int *)data;
    DBusDispatchStatus now = dbus_connection_get_dispatch_status(connection);
    if (status != now)
        printf("notified of status %d, which is %d\n", status, now);
}

int main(void) {
    const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    char *plain = strdup(address);
    *strstr(plain, ",guid") = 0;
    DBusConnection *first = dbus_connection_open(address, &error);
    DBusConnection *second = dbus_connection_open(address, &error);
    int statuses = 0;
    dbus_connection_set_dispatch_status_function(first, check_status, &statuses, NULL);
    printf("before authentication %d\n", first == second);
    printf("register %d", dbus_bus_register(first, &error));
    finish();
    printf("same identifier %d\n", dbus_connection_open(address, &error) == first);
    printf("without identifier %d\n", dbus_connection_open(plain, &error) == first);
    printf("bus %d\n", dbus_bus_get(DBUS_BUS_SESSION, &error) == first);
    setenv("DBUS_STARTER_BUS_TYPE", "session", 1);
    printf("starter %d\n", dbus_bus_get(DBUS_BUS_STARTER, &error) == first);
    DBusConnection *private = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
    printf("private %d name %d\n", private == first, dbus_bus_get_unique_name(private) != NULL);
    printf("register again %d", dbus_bus_register(first, &error));
    finish();
    printf("request %d", dbus_bus_request_name(first, "com.example.Y", 0, &error));
    printf(" %d", dbus_bus_request_name(private, "com.example.Y", 0, &error));
    printf(" %d", dbus_bus_request_name(first, "com.example.Y", 4, &error));
    finish();
    printf("request %d", dbus_bus_request_name(first, ":1.4", 0, &error));
    finish();
    printf("owner %d", dbus_bus_name_has_owner(first, "com.example.Y", &error));
    printf(" %d", dbus_bus_name_has_owner(first, "com.example.Z", &error));
    finish();
    printf("release %d", dbus_bus_release_name(first, "com.example.Y", &error));
    printf(" %d", dbus_bus_release_name(first, "com.example.Z", &error));
    finish();
    dbus_uint32_t result = 9;
    printf("start %d",
           dbus_bus_start_service_by_name(first, "com.example.Y", 0, &result, &error));
    printf(" %u", result);
    finish();
    printf("start %d", dbus_bus_start_service_by_name(first, "no.such.Name", 0, NULL, &error));
    finish();
    printf("user %d", dbus_bus_get_unix_user(first, "no.such.Name", &error) == (unsigned long)-1);
    finish();
    printf("user %ld", (long)dbus_bus_get_unix_user(first, "org.freedesktop.DBus", &error));
    finish();
    dbus_bus_add_match(first, "nonsense", &error);
    finish();
    dbus_bus_add_match(first, "type='signal'", &error);
    finish();
    dbus_bus_add_match(first, "type='signal'", NULL);
    int signals = 0;
    dbus_connection_add_filter(first, count_signals, &signals, NULL);
    DBusMessage *signal = dbus_message_new_signal("/a", "com.example.Interface", "Signal");
    dbus_connection_send(private, signal, NULL);
    dbus_message_unref(signal);
    for (int i = 0; i < 500 && signals == 0; i++)
        dbus_connection_read_write_dispatch(first, 10);
    printf("signals %d\n", signals);
    dbus_bus_remove_match(first, "type='signal'", &error);
    dbus_bus_remove_match(first, "type='signal'", &error);
    finish();
    dbus_bus_remove_match(first, "type='error'", &error);
    finish();
    char *id = dbus_bus_get_id(first, &error), *server = dbus_connection_get_server_id(first);
    printf("id %zu server %zu\n", strlen(id), strlen(server));
    printf("in address %d\n", strstr(address, server) != NULL);
    dbus_free(id);
    dbus_free(server);
    printf("notified of a status %d\n", statuses > 0);
    dbus_connection_set_dispatch_status_function(first, NULL, NULL, NULL);
    dbus_connection_close(private);
    dbus_connection_unref(private);
    free(plain);
    return 0;
}
