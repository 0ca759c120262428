/* Calls of the bus for the tests of lanes. */

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls a method of the bus without arguments. */
static DBusMessage *call_bus(DBusConnection *connection, const char *interface,
                             const char *method) {
    DBusMessage *message = dbus_message_new_method_call("org.freedesktop.DBus",
                                                        "/org/freedesktop/DBus", interface, method);
    DBusMessage *reply =
        dbus_connection_send_with_reply_and_block(connection, message, 10000, NULL);
    dbus_message_unref(message);
    if (reply == NULL) {
        printf("%s failed\n", method);
        exit(1);
    }
    return reply;
}

/* Prints the number of lanes, and the number of messages that the bus has routed. */
static void print_statistics(DBusConnection *connection) {
    DBusMessage *reply = call_bus(connection, "org.freedesktop.DBus.Debug.Stats", "GetStats");
    DBusMessageIter iter, entries;
    dbus_message_iter_init(reply, &iter);
    dbus_message_iter_recurse(&iter, &entries);
    dbus_uint32_t lanes = 0;
    dbus_uint64_t messages = 0;
    for (; dbus_message_iter_get_arg_type(&entries) == DBUS_TYPE_DICT_ENTRY;
         dbus_message_iter_next(&entries)) {
        DBusMessageIter entry, value;
        const char *key;
        dbus_message_iter_recurse(&entries, &entry);
        dbus_message_iter_get_basic(&entry, &key);
        dbus_message_iter_next(&entry);
        dbus_message_iter_recurse(&entry, &value);
        if (strcmp(key, "org.diligence.Lanes") == 0)
            dbus_message_iter_get_basic(&value, &lanes);
        if (strcmp(key, "org.diligence.Messages") == 0)
            dbus_message_iter_get_basic(&value, &messages);
    }
    dbus_message_unref(reply);
    printf("lanes %d messages %d\n", (int)lanes, (int)messages);
}
