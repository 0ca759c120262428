/* Uses one shared connection to the session bus in several threads at once. Then it waits until the
 * bus ends, which ends the process with the status 1. */

#include <dbus/dbus.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define CALLS 300

static DBusConnection *connection;
static int finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static dbus_int32_t slot = -1;
/* The number of replies for each thread. A reply can be counted after the thread has gone on. */
static int notified[THREADS];

static DBusHandlerResult ignore(DBusConnection *same, DBusMessage *message, void *data) {
    (void)same;
    (void)message;
    (void)data;
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

static const DBusObjectPathVTable VTABLE = {.message_function = ignore};

static void count(DBusPendingCall *pending, void *data) {
    (void)pending;
    pthread_mutex_lock(&lock);
    ++*(int *)data;
    pthread_mutex_unlock(&lock);
}

/* Uses each kind of state of the connection while other threads do the same. */
static void use_state(int number) {
    char path[20];
    DBusMessage *call = dbus_message_new_method_call("org.freedesktop.DBus", "/", NULL, "GetId");
    DBusPendingCall *awaited = NULL, *cancelled = NULL;
    snprintf(path, sizeof path, "/thread%d", number);
    dbus_connection_add_filter(connection, ignore, path, NULL);
    dbus_connection_register_object_path(connection, path, &VTABLE, NULL);
    dbus_connection_set_data(connection, slot, strdup(path), free);
    dbus_connection_send_with_reply(connection, call, &awaited, 10000);
    dbus_pending_call_set_notify(awaited, count, &notified[number], NULL);
    dbus_message_unref(call);
    call = dbus_message_new_method_call("org.freedesktop.DBus", "/", NULL, "GetId");
    dbus_connection_send_with_reply(connection, call, &cancelled, 10000);
    dbus_pending_call_cancel(cancelled);
    dbus_pending_call_unref(cancelled);
    dbus_message_unref(call);
    DBusMessage *signal = dbus_message_new_signal(path, "com.example.Interface", "Signal");
    dbus_connection_send(connection, signal, NULL);
    dbus_message_unref(signal);
    dbus_connection_flush(connection);
    if (number % 2)
        dbus_pending_call_block(awaited);
    while (!dbus_pending_call_get_completed(awaited))
        dbus_connection_read_write(connection, 1);
    dbus_pending_call_set_notify(awaited, NULL, NULL, NULL);
    dbus_pending_call_unref(awaited);
    dbus_connection_unregister_object_path(connection, path);
    dbus_connection_remove_filter(connection, ignore, path);
}

static void *work(void *argument) {
    int number = (int)(long)argument;
    for (int index = 0; index < CALLS; index++) {
        if (index % 10 == 0)
            use_state(number);
        DBusMessage *call =
            dbus_message_new_method_call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                         "org.freedesktop.DBus", "GetNameOwner");
        const char *name =
            index % 2 ? "org.freedesktop.DBus" : dbus_bus_get_unique_name(connection);
        dbus_message_append_args(call, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
        DBusError error = DBUS_ERROR_INIT;
        DBusMessage *reply =
            dbus_connection_send_with_reply_and_block(connection, call, 10000, &error);
        const char *owner = NULL;
        if (reply == NULL || !dbus_message_get_args(reply, &error, DBUS_TYPE_STRING, &owner,
                                                    DBUS_TYPE_INVALID) ||
            strcmp(owner, name) != 0) {
            printf("thread %d call %d: %s\n", number, index, error.message);
            exit(2);
        }
        dbus_message_unref(reply);
        dbus_message_unref(call);
    }
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    DBusError error = DBUS_ERROR_INIT;
    dbus_threads_init_default();
    connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    if (connection == NULL || connection != dbus_bus_get(DBUS_BUS_SESSION, NULL))
        return 3;
    dbus_connection_unref(connection);
    dbus_connection_allocate_data_slot(&slot);
    for (long number = 0; number < THREADS; number++)
        pthread_create(&threads[number], NULL, work, (void *)number);
    for (int done = 0; done < THREADS;) {
        dbus_connection_read_write_dispatch(connection, 5);
        pthread_mutex_lock(&lock);
        done = finished;
        pthread_mutex_unlock(&lock);
    }
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
    printf("%d calls\n", THREADS * CALLS);
    fflush(stdout);
    while (dbus_connection_read_write_dispatch(connection, -1))
        continue;
    return 4;
}
