/* Uses connections, servers, pending calls and main loop functions of any libdbus, and prints all
 * results. The tests compare the output for two libraries. */

#define _GNU_SOURCE
#include <dbus/dbus.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 64
static DBusWatch *watches[EVENTS_MAX];
static DBusTimeout *timeouts[EVENTS_MAX];
static long long due[EVENTS_MAX];
static int log_events;

static const char *shown(const char *text) { return text == NULL ? "-" : text; }

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000ll + time.tv_nsec / 1000000;
}

static dbus_bool_t add_watch(DBusWatch *watch, void *data) {
    if (log_events)
        printf("add watch %s flags %u\n", (char *)data, dbus_watch_get_flags(watch));
    for (int i = 0; i < EVENTS_MAX; i++)
        if (watches[i] == NULL) {
            watches[i] = watch;
            break;
        }
    return 1;
}

static void remove_watch(DBusWatch *watch, void *data) {
    if (log_events)
        printf("remove watch %s flags %u\n", (char *)data, dbus_watch_get_flags(watch));
    for (int i = 0; i < EVENTS_MAX; i++)
        if (watches[i] == watch)
            watches[i] = NULL;
}

static void toggle_watch(DBusWatch *watch, void *data) {
    (void)watch;
    (void)data;
}

static dbus_bool_t add_timeout(DBusTimeout *timeout, void *data) {
    if (log_events)
        printf("add timeout %s %d enabled %d\n", (char *)data, dbus_timeout_get_interval(timeout),
               dbus_timeout_get_enabled(timeout));
    for (int i = 0; i < EVENTS_MAX; i++)
        if (timeouts[i] == NULL) {
            timeouts[i] = timeout;
            due[i] = now() + dbus_timeout_get_interval(timeout);
            break;
        }
    return 1;
}

static void remove_timeout(DBusTimeout *timeout, void *data) {
    if (log_events)
        printf("remove timeout %s\n", (char *)data);
    for (int i = 0; i < EVENTS_MAX; i++)
        if (timeouts[i] == timeout)
            timeouts[i] = NULL;
}

static void toggle_timeout(DBusTimeout *timeout, void *data) {
    (void)timeout;
    (void)data;
}

static void freed(void *data) { printf("freed %s\n", (char *)data); }

static int dispatch(DBusConnection *connection) {
    int dispatched = 0;
    while (connection && dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_DATA_REMAINS) {
        dbus_connection_dispatch(connection);
        dispatched = 1;
    }
    return dispatched;
}

/* The time without an event after which both ends have done everything. Each end is in this
 * process, so even a busy machine delays an event by less. */
#define IDLE_MILLISECONDS 20

/* Runs the main loop once. Returns 0 if nothing has happened. */
static int step(DBusConnection *first, DBusConnection *second) {
    int dispatched_first = dispatch(first), dispatched_second = dispatch(second);
    struct pollfd fds[EVENTS_MAX];
    DBusWatch *polled[EVENTS_MAX];
    int count = 0;
    for (int i = 0; i < EVENTS_MAX; i++)
        if (watches[i] != NULL && dbus_watch_get_enabled(watches[i])) {
            unsigned flags = dbus_watch_get_flags(watches[i]);
            polled[count] = watches[i];
            fds[count].fd = dbus_watch_get_unix_fd(watches[i]);
            fds[count].events = (flags & DBUS_WATCH_READABLE ? POLLIN : 0) |
                                (flags & DBUS_WATCH_WRITABLE ? POLLOUT : 0);
            fds[count++].revents = 0;
        }
    int has_happened = dispatched_first || dispatched_second;
    has_happened |= poll(fds, (nfds_t)count, has_happened ? 0 : IDLE_MILLISECONDS) > 0;
    for (int i = 0; i < count; i++) {
        unsigned flags = (fds[i].revents & POLLIN ? DBUS_WATCH_READABLE : 0) |
                         (fds[i].revents & POLLOUT ? DBUS_WATCH_WRITABLE : 0) |
                         (fds[i].revents & POLLHUP ? DBUS_WATCH_HANGUP : 0) |
                         (fds[i].revents & POLLERR ? DBUS_WATCH_ERROR : 0);
        int exists = 0;
        for (int j = 0; j < EVENTS_MAX; j++)
            exists |= watches[j] == polled[i];
        if (flags != 0 && exists)
            dbus_watch_handle(polled[i], flags);
    }
    for (int i = 0; i < EVENTS_MAX; i++)
        if (timeouts[i] != NULL && now() >= due[i]) {
            due[i] = now() + dbus_timeout_get_interval(timeouts[i]);
            dbus_timeout_handle(timeouts[i]);
            has_happened = 1;
        }
    return has_happened;
}

/* Runs the main loop until nothing happens any more. */
static void run(DBusConnection *first, DBusConnection *second) {
    while (step(first, second))
        continue;
}

/* Runs the main loop until a call is completed. */
static void complete(DBusPendingCall *pending, DBusConnection *first, DBusConnection *second) {
    while (!dbus_pending_call_get_completed(pending))
        step(first, second);
}

static DBusConnection *accepted;
static const char *decision;
static int allows_anonymous;

static dbus_bool_t allow_user(DBusConnection *connection, unsigned long uid, void *data) {
    (void)connection;
    printf("user %d: %s\n", uid == geteuid(), (char *)data);
    return strcmp(data, "yes") == 0;
}

static void new_connection(DBusServer *server, DBusConnection *connection, void *data) {
    (void)server;
    printf("new connection %s authenticated %d connected %d\n", (char *)data,
           dbus_connection_get_is_authenticated(connection),
           dbus_connection_get_is_connected(connection));
    dbus_connection_ref(connection);
    dbus_connection_set_watch_functions(connection, add_watch, remove_watch, toggle_watch, "server",
                                        NULL);
    dbus_connection_set_timeout_functions(connection, add_timeout, remove_timeout, toggle_timeout,
                                          "server", NULL);
    if (decision != NULL)
        dbus_connection_set_unix_user_function(connection, allow_user, (void *)decision, NULL);
    dbus_connection_set_allow_anonymous(connection, allows_anonymous);
    accepted = connection;
}

static void show(const char *where, DBusMessage *message) {
    printf("%s: %s %s %s %s serial %d reply %d [%s]", where,
           dbus_message_type_to_string(dbus_message_get_type(message)),
           shown(dbus_message_get_path(message)), shown(dbus_message_get_member(message)),
           shown(dbus_message_get_error_name(message)), dbus_message_get_serial(message) != 0,
           dbus_message_get_reply_serial(message) != 0, dbus_message_get_signature(message));
    const char *text;
    if (dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        printf(" %s", text);
    printf("\n");
}

static DBusHandlerResult log_filter(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)connection;
    show(data, message);
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

static DBusHandlerResult self_removing(DBusConnection *connection, DBusMessage *message,
                                       void *data) {
    show(data, message);
    dbus_connection_remove_filter(connection, self_removing, data);
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

static DBusHandlerResult eat_replies(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)connection;
    (void)data;
    if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_RETURN) {
        printf("ate the reply\n");
        return DBUS_HANDLER_RESULT_HANDLED;
    }
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

static DBusHandlerResult handle(DBusConnection *connection, DBusMessage *message, void *data) {
    show(data, message);
    if (!dbus_message_has_member(message, "Echo") && !dbus_message_has_member(message, "Fd"))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    DBusMessage *reply = dbus_message_new_method_return(message);
    const char *text;
    int fd;
    if (dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        dbus_message_append_args(reply, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
    else if (dbus_message_get_args(message, NULL, DBUS_TYPE_UNIX_FD, &fd, DBUS_TYPE_INVALID)) {
        dbus_message_append_args(reply, DBUS_TYPE_UNIX_FD, &fd, DBUS_TYPE_INVALID);
        close(fd);
    }
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void unregistered(DBusConnection *connection, void *data) {
    (void)connection;
    printf("unregistered %s\n", (char *)data);
}

static const DBusObjectPathVTable VTABLE = {.unregister_function = unregistered,
                                            .message_function = handle};

static void notified(DBusPendingCall *pending, void *data) {
    printf("notified %s completed %d\n", (char *)data, dbus_pending_call_get_completed(pending));
}

static void show_reply(DBusPendingCall *pending, const char *name) {
    if (pending == NULL) {
        printf("%s: no pending call\n", name);
        return;
    }
    if (!dbus_pending_call_get_completed(pending)) {
        printf("%s: not completed\n", name);
    } else {
        DBusMessage *reply = dbus_pending_call_steal_reply(pending);
        show(name, reply);
        dbus_message_unref(reply);
    }
    dbus_pending_call_unref(pending);
}

static DBusPendingCall *start(DBusConnection *connection, const char *path, const char *interface,
                              const char *method, const char *text, int timeout) {
    DBusMessage *call = dbus_message_new_method_call(NULL, path, interface, method);
    if (text != NULL)
        dbus_message_append_args(call, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
    DBusPendingCall *pending = NULL;
    dbus_bool_t sent = dbus_connection_send_with_reply(connection, call, &pending, timeout);
    if (pending != NULL)
        dbus_pending_call_set_notify(pending, notified, (void *)method, NULL);
    printf("sent %s %d %d locked serial %d\n", method, sent, pending != NULL,
           dbus_message_get_serial(call));
    dbus_message_unref(call);
    return pending;
}

static void call_and_show(DBusConnection *client, const char *path, const char *interface,
                          const char *method, const char *text) {
    DBusPendingCall *pending = start(client, path, interface, method, text, 60000);
    complete(pending, client, accepted);
    show_reply(pending, method);
}

static DBusServer *listen_at(const char *address) {
    DBusError error = DBUS_ERROR_INIT;
    DBusServer *server = dbus_server_listen(address, &error);
    if (server == NULL) {
        printf("listen %s %s\n", error.name, error.message);
        exit(1);
    }
    dbus_server_set_watch_functions(server, add_watch, remove_watch, toggle_watch, "listener",
                                    NULL);
    dbus_server_set_timeout_functions(server, add_timeout, remove_timeout, toggle_timeout,
                                      "listener", NULL);
    dbus_server_set_new_connection_function(server, new_connection, "data", NULL);
    return server;
}

static DBusConnection *connect_to(DBusServer *server) {
    DBusError error = DBUS_ERROR_INIT;
    char *address = dbus_server_get_address(server);
    DBusConnection *client = dbus_connection_open_private(address, &error);
    dbus_free(address);
    if (client == NULL) {
        printf("open %s %s\n", error.name, error.message);
        exit(1);
    }
    dbus_connection_set_watch_functions(client, add_watch, remove_watch, toggle_watch, "client",
                                        NULL);
    dbus_connection_set_timeout_functions(client, add_timeout, remove_timeout, toggle_timeout,
                                          "client", NULL);
    return client;
}

/* Facts about the process are compared only for Unix sockets. */
static int has_credentials;

static void show_connection(const char *name, DBusConnection *connection, DBusServer *server) {
    unsigned long uid = 77777, pid = 77777;
    int fd = -1;
    char *id = dbus_connection_get_server_id(connection), *server_id = dbus_server_get_id(server);
    dbus_bool_t has_user = dbus_connection_get_unix_user(connection, &uid);
    dbus_bool_t has_process = dbus_connection_get_unix_process_id(connection, &pid);
    printf("%s: connected %d authenticated %d anonymous %d user %d %d process %d %d id %d fd %d "
           "can send %d %d %d outgoing %ld %ld has %d\n",
           name, dbus_connection_get_is_connected(connection),
           dbus_connection_get_is_authenticated(connection),
           dbus_connection_get_is_anonymous(connection), has_user, uid == geteuid(), has_credentials && has_process,
           has_credentials && pid == (unsigned long)getpid(), id != NULL && strcmp(id, server_id) == 0,
           dbus_connection_get_unix_fd(connection, &fd) && fd >= 0,
           dbus_connection_can_send_type(connection, 'h'),
           dbus_connection_can_send_type(connection, 's'),
           dbus_connection_can_send_type(connection, '?'),
           dbus_connection_get_outgoing_size(connection),
           dbus_connection_get_outgoing_unix_fds(connection),
           dbus_connection_has_messages_to_send(connection));
    dbus_free(id);
    dbus_free(server_id);
}

static void end(DBusConnection **connection) {
    if (*connection == NULL)
        return;
    if (dbus_connection_get_is_connected(*connection))
        dbus_connection_close(*connection);
    run(*connection, NULL);
    dbus_connection_unref(*connection);
    *connection = NULL;
}

/* A public function of libdbus 1.15.10, which is private in 1.14. */
static void enable_builtin_filters(DBusConnection *connection, dbus_bool_t value) {
    void (*function)(DBusConnection *, dbus_bool_t) = (void (*)(DBusConnection *, dbus_bool_t))dlsym(
        RTLD_DEFAULT, "dbus_connection_set_builtin_filters_enabled");
    if (function == NULL)
        function = (void (*)(DBusConnection *, dbus_bool_t))dlsym(
            RTLD_DEFAULT, "_dbus_connection_set_builtin_filters_enabled");
    function(connection, value);
}

static void use_objects(DBusConnection *server_end) {
    DBusError error = DBUS_ERROR_INIT;
    printf("register %d", dbus_connection_register_object_path(server_end, "/a/b", &VTABLE, "/a/b"));
    printf("%d", dbus_connection_register_fallback(server_end, "/f", &VTABLE, "/f (fallback)"));
    printf("%d", dbus_connection_register_object_path(server_end, "/f/x", &VTABLE, "/f/x"));
    printf("%d\n", dbus_connection_register_object_path(server_end, "/gone", &VTABLE, "/gone"));
    printf("again %d %s",
           dbus_connection_try_register_object_path(server_end, "/a/b", &VTABLE, NULL, &error),
           shown(error.name));
    printf(" %s\n", shown(error.message));
    dbus_error_free(&error);
    const char *parents[] = {"/", "/a", "/f", "/f/x", "/nothing", "/gone"};
    for (unsigned i = 0; i < sizeof parents / sizeof *parents; i++) {
        char **children = NULL;
        void *data = "unset";
        printf("children of %s %d:", parents[i],
               dbus_connection_list_registered(server_end, parents[i], &children));
        for (int j = 0; children[j] != NULL; j++)
            printf(" %s", children[j]);
        dbus_free_string_array(children);
        dbus_connection_get_object_path_data(server_end, parents[i], &data);
        printf(" data %s\n", shown(data));
    }
    printf("unregister %d\n", dbus_connection_unregister_object_path(server_end, "/gone"));
}

static void use_queue(DBusConnection *client, DBusConnection *server_end) {
    DBusMessage *signal = dbus_message_new_signal("/s", "a.b", "Signal");
    for (int i = 0; i < 3; i++) {
        DBusMessage *copy = dbus_message_copy(signal);
        dbus_uint32_t serial = 0;
        printf("send %d", dbus_connection_send(client, copy, &serial));
        printf(" serial %d\n", serial == dbus_message_get_serial(copy));
        dbus_message_unref(copy);
    }
    dbus_connection_flush(client);
    while (dbus_connection_get_dispatch_status(server_end) != DBUS_DISPATCH_DATA_REMAINS)
        dbus_connection_read_write(server_end, 100);
    DBusMessage *borrowed = dbus_connection_borrow_message(server_end);
    show("borrowed", borrowed);
    dbus_connection_return_message(server_end, borrowed);
    borrowed = dbus_connection_borrow_message(server_end);
    dbus_connection_steal_borrowed_message(server_end, borrowed);
    show("stolen", borrowed);
    dbus_message_unref(borrowed);
    for (int i = 0; i < 2; i++) {
        DBusMessage *popped;
        while ((popped = dbus_connection_pop_message(server_end)) == NULL)
            dbus_connection_read_write(server_end, 100);
        show("popped", popped);
        dbus_message_unref(popped);
    }
    printf("empty %d %d\n", dbus_connection_pop_message(server_end) == NULL,
           dbus_connection_borrow_message(server_end) == NULL);
    DBusPreallocatedSend *preallocated = dbus_connection_preallocate_send(client);
    dbus_connection_free_preallocated_send(client, preallocated);
    preallocated = dbus_connection_preallocate_send(client);
    dbus_connection_send_preallocated(client, preallocated, signal, NULL);
    dbus_message_unref(signal);
    run(client, server_end);
}

static void use_slots(DBusConnection *connection, DBusServer *server) {
    dbus_int32_t slot = -1, second = -1;
    printf("allocate %d", dbus_connection_allocate_data_slot(&slot));
    printf(" %d", slot);
    printf(" %d", dbus_connection_allocate_data_slot(&slot));
    printf(" %d", dbus_connection_allocate_data_slot(&second));
    printf(" %d\n", second);
    printf("set %d\n", dbus_connection_set_data(connection, slot, "one", freed));
    printf("get %s\n", shown(dbus_connection_get_data(connection, slot)));
    printf("set %d\n", dbus_connection_set_data(connection, slot, "two", freed));
    printf("set %d\n", dbus_connection_set_data(connection, slot, NULL, NULL));
    dbus_connection_free_data_slot(&slot);
    printf("slot %d\n", slot);
    dbus_connection_free_data_slot(&slot);
    printf("slot %d\n", slot);
    dbus_connection_free_data_slot(&second);
    dbus_int32_t of_server = -1;
    dbus_server_allocate_data_slot(&of_server);
    dbus_server_set_data(server, of_server, "server data", freed);
    printf("get %s\n", shown(dbus_server_get_data(server, of_server)));
    dbus_server_set_data(server, of_server, NULL, NULL);
    dbus_server_free_data_slot(&of_server);
}

static void use_large_messages(DBusConnection *client, DBusConnection *server_end) {
    size_t sizes[] = {1, 5000, 300000, 3000000};
    for (int i = 0; i < 4; i++) {
        char *text = malloc(sizes[i] + 1);
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = 0;
        DBusMessage *call = dbus_message_new_method_call(NULL, "/a/b", "a.b", "Echo");
        dbus_message_append_args(call, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
        DBusPendingCall *pending;
        dbus_connection_send_with_reply(client, call, &pending, 60000);
        dbus_message_unref(call);
        fflush(stdout);
        int output = dup(1), nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        complete(pending, client, server_end);
        fflush(stdout);
        dup2(output, 1);
        close(output);
        close(nowhere);
        DBusMessage *reply = dbus_pending_call_steal_reply(pending);
        const char *found = "";
        dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &found, DBUS_TYPE_INVALID);
        printf("large %zu %zu\n", strlen(found), sizes[i]);
        dbus_message_unref(reply);
        dbus_pending_call_unref(pending);
        free(text);
    }
}

static void pass_descriptor(DBusConnection *client, DBusConnection *server_end) {
    int pipes[2], fd = -1;
    if (pipe(pipes) != 0)
        exit(1);
    DBusMessage *call = dbus_message_new_method_call(NULL, "/a/b", "a.b", "Fd");
    dbus_message_append_args(call, DBUS_TYPE_UNIX_FD, &pipes[1], DBUS_TYPE_INVALID);
    DBusPendingCall *pending = NULL;
    printf("fd %d\n", dbus_connection_send_with_reply(client, call, &pending, 60000));
    dbus_message_unref(call);
    close(pipes[1]);
    if (pending == NULL) {
        printf("no call\n");
    } else {
        complete(pending, client, server_end);
        DBusMessage *reply = dbus_pending_call_steal_reply(pending);
        printf("got %d\n",
               dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &fd, DBUS_TYPE_INVALID));
        char text[10] = "";
        if (write(fd, "passed", 6) != 6 || read(pipes[0], text, 6) != 6)
            printf("not passed\n");
        printf("%s\n", text);
        close(fd);
        dbus_message_unref(reply);
        dbus_pending_call_unref(pending);
    }
    close(pipes[0]);
}

/* Connections of every kind between two ends in this process. */
static void use_pair(const char *address, const char *const *mechanisms, int with_anonymous) {
    printf("--- %s\n", address);
    has_credentials = strncmp(address, "unix:", 5) == 0;
    log_events = 1;
    allows_anonymous = with_anonymous;
    DBusServer *server = listen_at(address);
    if (mechanisms != NULL)
        printf("mechanisms %d\n", dbus_server_set_auth_mechanisms(server, (const char **)mechanisms));
    printf("server connected %d\n", dbus_server_get_is_connected(server));
    DBusConnection *client = connect_to(server);
    log_events = 0;
    show_connection("client before", client, server);
    while (accepted == NULL)
        step(client, NULL);
    run(client, accepted);
    show_connection("client", client, server);
    show_connection("server", accepted, server);
    if (dbus_connection_get_is_connected(client)) {
        dbus_connection_add_filter(accepted, log_filter, "filter 1", NULL);
        dbus_connection_add_filter(accepted, self_removing, "filter 2 (removes itself)", freed);
        dbus_connection_add_filter(accepted, log_filter, "filter 3", NULL);
        use_objects(accepted);
        call_and_show(client, "/a/b", "a.b", "Echo", "first");
        dbus_connection_remove_filter(accepted, log_filter, "filter 3");
        call_and_show(client, "/f/x", "a.b", "Echo", "exact");
        call_and_show(client, "/f/x", "a.b", "Other", "fallback after exact");
        call_and_show(client, "/f/y/z", "a.b", "Echo", "fallback");
        call_and_show(client, "/a", "a.b", "Echo", "ancestor");
        call_and_show(client, "/", "a.b", "Echo", "root");
        call_and_show(client, "/none", "a.b", "Echo", "none");
        call_and_show(client, "/none", NULL, "Echo", NULL);
        call_and_show(client, "/a", "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
        call_and_show(client, "/", "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
        call_and_show(client, "/none", "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
        call_and_show(client, "/none", "org.freedesktop.DBus.Peer", "Ping", NULL);
        call_and_show(client, "/none", "org.freedesktop.DBus.Peer", "Other", NULL);
        enable_builtin_filters(accepted, 0);
        call_and_show(client, "/none", "org.freedesktop.DBus.Peer", "Ping", NULL);
        enable_builtin_filters(accepted, 1);
        call_and_show(client, "/none", "org.freedesktop.DBus.Peer", "Ping", NULL);
        DBusMessage *quiet = dbus_message_new_method_call(NULL, "/none", "a.b", "Quiet");
        dbus_message_set_no_reply(quiet, 1);
        dbus_connection_add_filter(client, log_filter, "client filter", NULL);
        dbus_connection_send(client, quiet, NULL);
        dbus_message_unref(quiet);
        run(client, accepted);
        dbus_connection_add_filter(client, eat_replies, NULL, NULL);
        call_and_show(client, "/a/b", "a.b", "Echo", "eaten");
        dbus_connection_remove_filter(client, eat_replies, NULL);
        dbus_connection_remove_filter(client, log_filter, "client filter");
        log_events = 1;
        call_and_show(client, "/a/b", "a.b", "Echo", "with events");
        /* The server does not answer, because it does not run. */
        DBusPendingCall *late = start(client, "/a/b", "a.b", "Echo", "late", 30);
        complete(late, client, NULL);
        show_reply(late, "late");
        log_events = 0;
        run(client, accepted);
        DBusPendingCall *cancelled = start(client, "/a/b", "a.b", "Echo", "cancelled", 60000);
        dbus_pending_call_cancel(cancelled);
        run(client, accepted);
        show_reply(cancelled, "cancelled");
        pass_descriptor(client, accepted);
        use_large_messages(client, accepted);
        use_queue(client, accepted);
        use_slots(client, server);
        printf("limits %ld %ld %ld %ld\n", dbus_connection_get_max_message_size(client),
               dbus_connection_get_max_received_size(client),
               dbus_connection_get_max_message_unix_fds(client),
               dbus_connection_get_max_received_unix_fds(client));
        dbus_connection_add_filter(client, log_filter, "client at the end", freed);
        dbus_connection_close(accepted);
        run(client, NULL);
        show_connection("client after", client, server);
        show_reply(start(client, "/a/b", "a.b", "Echo", "closed", 500), "closed");
        DBusMessage *call = dbus_message_new_method_call(NULL, "/a/b", "a.b", "Echo");
        DBusError error = DBUS_ERROR_INIT;
        DBusMessage *none = dbus_connection_send_with_reply_and_block(client, call, 100, &error);
        printf("block %d %s %s\n", none != NULL, shown(error.name), shown(error.message));
        dbus_error_free(&error);
        dbus_uint32_t serial = 0;
        printf("send %d %d\n", dbus_connection_send(client, call, &serial), serial != 0);
        printf("read_write %d %d\n", dbus_connection_read_write(client, 10),
               dbus_connection_read_write_dispatch(client, 10));
        dbus_message_unref(call);
    }
    end(&client);
    end(&accepted);
    log_events = 1;
    dbus_server_disconnect(server);
    log_events = 0;
    printf("server connected %d\n", dbus_server_get_is_connected(server));
    dbus_server_unref(server);
}

static void misuse(int number) {
    DBusMessage *message = dbus_message_new_signal("/a", "a.b", "C");
    DBusMessageIter iter, sub;
    const char *text = "x", *invalid = "\xff", *element = "a";
    dbus_int32_t integer = 2;
    switch (number) {
    case 0: dbus_message_get_path(NULL); break;
    case 1: dbus_message_new_method_call("x", "/a", NULL, "A"); break;
    case 2: dbus_message_new_method_call(NULL, "a", NULL, "A"); break;
    case 3: dbus_message_set_interface(message, "x"); break;
    case 4: dbus_message_lock(message); dbus_message_set_member(message, "B"); break;
    case 5: dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_append_basic(&iter, 's', &invalid); break;
    case 6: dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_append_basic(&iter, 'b', &integer); break;
    case 7: dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_open_container(&iter, 'a', "i", &sub);
        dbus_message_iter_append_basic(&sub, 's', &text); break;
    case 8: dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_open_container(&iter, 'v', "ii", &sub); break;
    case 9: dbus_message_new_signal("/a", NULL, "C"); break;
    case 10: dbus_message_new(0); break;
    case 11: dbus_message_set_reply_serial(message, 0); break;
    case 12: dbus_set_error_const(NULL, NULL, NULL); dbus_error_init(NULL); break;
    case 13: dbus_bus_register(NULL, NULL); break;
    case 14: dbus_connection_close(NULL); break;
    case 15: dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_open_container(&iter, 'a', "ai", &sub);
        dbus_message_iter_append_basic(&sub, 'i', &integer); break;
    case 16: dbus_message_lock(message); dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_append_basic(&iter, 's', &element); break;
    case 17: dbus_validate_path(NULL, NULL); break;
    case 18: dbus_type_is_basic('?'); break;
    case 19: dbus_pending_call_unref(NULL); break;
    case 20: dbus_server_listen(NULL, NULL); break;
    case 21: dbus_message_iter_init_append(message, &iter);
        dbus_message_iter_open_container(&iter, 'r', "i", &sub); break;
    default: break;
    }
    dbus_message_unref(message);
}

/* Prints how wrong calls end a process, and the condition that they violate. */
static void show_misuse(void) {
    printf("--- misuse\n");
    for (int number = 0; number <= 21; number++) {
        int pipes[2];
        if (pipe(pipes) != 0)
            exit(1);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            dup2(pipes[1], 2);
            close(pipes[0]);
            close(pipes[1]);
            if (number % 2)
                setenv("DBUS_FATAL_WARNINGS", "0", 1);
            misuse(number);
            _exit(3);
        }
        close(pipes[1]);
        char text[4000] = "";
        size_t len = 0;
        ssize_t count;
        while (len < sizeof text - 1 &&
               (count = read(pipes[0], text + len, sizeof text - 1 - len)) > 0)
            len += (size_t)count;
        close(pipes[0]);
        int status;
        waitpid(child, &status, 0);
        /* The place in the source and the number of the process differ. */
        char *start = strstr(text, "]: "), *place = strstr(text, " in file ");
        if (place != NULL)
            *place = 0;
        char *backtrace = strstr(text, "  D-Bus not built with -rdynamic");
        if (backtrace != NULL)
            *backtrace = 0;
        printf("%d: exit %d signal %d %s\n", number, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0, start == NULL ? text : start + 3);
    }
}

int main(void) {
    static const char *const ANONYMOUS[] = {"ANONYMOUS", NULL};
    static const char *const COOKIE[] = {"DBUS_COOKIE_SHA1", NULL};
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    dbus_threads_init_default();
    show_misuse();
    /* Ends a program that waits for an event that does not happen. */
    alarm(200);
    use_pair("unix:tmpdir=/tmp", NULL, 0);
    decision = "yes";
    use_pair("unix:tmpdir=/tmp", NULL, 0);
    decision = "no";
    use_pair("unix:tmpdir=/tmp", NULL, 0);
    decision = NULL;
    use_pair("tcp:host=127.0.0.1", COOKIE, 0);
    use_pair("tcp:host=127.0.0.1", ANONYMOUS, 1);
    use_pair("tcp:host=127.0.0.1", ANONYMOUS, 0);
    use_pair("nonce-tcp:host=127.0.0.1", ANONYMOUS, 1);
    dbus_shutdown();
    return 0;
}
