/* The workload with GDBus: blocking calls, and the main loop of GLib for incoming messages. */

#include "bench.h"

#include <gio/gio.h>

struct connection {
    GDBusConnection *bus;
};

static struct connection *connect_to(const char *address)
{
    struct connection *connection = allocate(sizeof *connection);
    GError *error = NULL;
    connection->bus = g_dbus_connection_new_for_address_sync(
        address,
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
        NULL, NULL, &error);
    if (connection->bus == NULL)
        fail("there is no connection to %s: %s", address, error->message);
    return connection;
}

static const char *unique_name(struct connection *connection)
{
    return g_dbus_connection_get_unique_name(connection->bus);
}

static const char description[] =
    "<node><interface name='" BENCH_INTERFACE "'>"
    "<method name='" BENCH_METHOD "'>"
    "<arg name='text' type='s' direction='in'/><arg name='back' type='s' direction='out'/>"
    "</method>"
    "<signal name='" BENCH_SIGNAL "'>"
    "<arg name='sent_ns' type='t'/><arg name='payload' type='ay'/>"
    "</signal>"
    "</interface></node>";

static void answer(GDBusConnection *bus, const char *sender, const char *path,
                   const char *interface, const char *method, GVariant *arguments,
                   GDBusMethodInvocation *invocation, void *unused)
{
    const char *text;
    (void)bus, (void)sender, (void)path, (void)interface, (void)method, (void)unused;
    g_variant_get(arguments, "(&s)", &text);
    g_dbus_method_invocation_return_value(invocation, g_variant_new("(s)", text));
}

static void ended(GDBusConnection *bus, gboolean vanished, GError *error, void *unused)
{
    (void)bus, (void)vanished, (void)unused;
    fail("the connection ended: %s", error != NULL ? error->message : "it was closed");
}

static void add_echo(struct connection *connection)
{
    static const GDBusInterfaceVTable methods = {.method_call = answer};
    GError *error = NULL;
    GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(description, &error);
    if (node == NULL
        || g_dbus_connection_register_object(connection->bus, BENCH_PATH, node->interfaces[0],
                                             &methods, NULL, NULL, &error) == 0)
        fail("the object is not served: %s", error->message);
}

_Noreturn static void serve_calls(struct connection *connection)
{
    g_signal_connect(connection->bus, "closed", G_CALLBACK(ended), NULL);
    for (;;)
        g_main_context_iteration(NULL, TRUE);
}

static void call_echo(struct connection *connection, const char *destination, const char *text)
{
    GError *error = NULL;
    const char *back;
    GVariant *reply = g_dbus_connection_call_sync(
        connection->bus, destination, BENCH_PATH, BENCH_INTERFACE, BENCH_METHOD,
        g_variant_new("(s)", text), G_VARIANT_TYPE("(s)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    if (reply == NULL)
        fail("the call failed: %s", error->message);
    g_variant_get(reply, "(&s)", &back);
    if (strcmp(back, text) != 0)
        fail("the reply carries a different text than the call");
    g_variant_unref(reply);
}

/* A thread of GDBus sends from an unlimited queue, so no message is refused. */
static enum emission emit_sample(struct connection *connection, uint64_t sent_ns,
                                 const uint8_t *payload, size_t size)
{
    GError *error = NULL;
    GVariant *bytes = g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, payload, size, 1);
    if (!g_dbus_connection_emit_signal(connection->bus, NULL, BENCH_PATH, BENCH_INTERFACE,
                                       BENCH_SIGNAL,
                                       g_variant_new("(t@ay)", (guint64)sent_ns, bytes), &error))
        fail("the signal is not sent: %s", error->message);
    return EMITTED;
}

static void flush_samples(struct connection *connection)
{
    GError *error = NULL;
    if (!g_dbus_connection_flush_sync(connection->bus, NULL, &error))
        fail("the signals are not sent: %s", error->message);
}

static void take(GDBusConnection *bus, const char *sender, const char *path, const char *interface,
                 const char *signal, GVariant *arguments, void *listening)
{
    guint64 sent_ns;
    gsize size;
    (void)bus, (void)sender, (void)path, (void)interface, (void)signal;
    g_variant_get_child(arguments, 0, "t", &sent_ns);
    GVariant *payload = g_variant_get_child_value(arguments, 1);
    g_variant_get_fixed_array(payload, &size, 1);
    listening_take(listening, sent_ns, size);
    g_variant_unref(payload);
}

static gboolean wake_up(void *unused)
{
    (void)unused;
    return G_SOURCE_CONTINUE;
}

static void listen_to_samples(struct connection *connection, const char *sender,
                              struct listening *listening)
{
    GError *error = NULL;
    g_dbus_connection_signal_subscribe(connection->bus, sender, BENCH_INTERFACE, BENCH_SIGNAL,
                                       BENCH_PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE, take, listening,
                                       NULL);
    /* Adding a rule does not wait for the bus. The bus replies to this call after it has handled
       the rule. */
    GVariant *reply = g_dbus_connection_call_sync(
        connection->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
        "GetId", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    if (reply == NULL)
        fail("the bus does not answer: %s", error->message);
    g_variant_unref(reply);
    g_signal_connect(connection->bus, "closed", G_CALLBACK(ended), NULL);
    g_timeout_add(LOOK_EACH_MS, wake_up, NULL);
    listening_ready(listening);
    while (!listening_over(listening))
        g_main_context_iteration(NULL, TRUE);
}
