/* A service, and a program that calls it in all ways that libdbus has. The arguments are the steps
 * of the program. With the first argument "serve" or "serve-loop", it is the service, which waits
 * for messages itself or with watches. */

#include <dbus/dbus.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "statistics.h"

#define NAME "org.example.Lanes"
#define THREADS 4
#define WATCHES 8

static DBusConnection *connection;

static void fail(const char *text) {
    printf("failed: %s\n", text);
    exit(1);
}

/* A main loop. */

static DBusWatch *watches[WATCHES];
static DBusTimeout *timeouts[64];

static dbus_bool_t add_watch(DBusWatch *watch, void *data) {
    for (int index = 0; index < WATCHES; index++)
        if (watches[index] == NULL) {
            watches[index] = watch;
            return TRUE;
        }
    return FALSE;
}

static void remove_watch(DBusWatch *watch, void *data) {
    for (int index = 0; index < WATCHES; index++)
        if (watches[index] == watch)
            watches[index] = NULL;
}

static void toggled_watch(DBusWatch *watch, void *data) {}

static dbus_bool_t add_timeout(DBusTimeout *timeout, void *data) {
    for (int index = 0; index < 64; index++)
        if (timeouts[index] == NULL) {
            timeouts[index] = timeout;
            return TRUE;
        }
    return FALSE;
}

static void remove_timeout(DBusTimeout *timeout, void *data) {
    for (int index = 0; index < 64; index++)
        if (timeouts[index] == timeout)
            timeouts[index] = NULL;
}

static void toggled_timeout(DBusTimeout *timeout, void *data) {}

static void use_loop(void) {
    dbus_connection_set_watch_functions(connection, add_watch, remove_watch, toggled_watch, NULL,
                                        NULL);
    dbus_connection_set_timeout_functions(connection, add_timeout, remove_timeout, toggled_timeout,
                                          NULL, NULL);
}

/* Waits for the watches once. All calls of this program are answered in less than five seconds. */
static void turn_loop(void) {
    struct pollfd fds[WATCHES];
    DBusWatch *polled[WATCHES];
    int count = 0;
    while (dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS)
        continue;
    for (int index = 0; index < WATCHES; index++)
        if (watches[index] != NULL && dbus_watch_get_enabled(watches[index])) {
            unsigned flags = dbus_watch_get_flags(watches[index]);
            polled[count] = watches[index];
            fds[count].fd = dbus_watch_get_unix_fd(watches[index]);
            fds[count].events = (flags & DBUS_WATCH_READABLE ? POLLIN : 0) |
                                (flags & DBUS_WATCH_WRITABLE ? POLLOUT : 0);
            count++;
        }
    if (poll(fds, count, 5000) == 0)
        fail("nothing arrived");
    for (int index = 0; index < count; index++) {
        unsigned flags = (fds[index].revents & POLLIN ? DBUS_WATCH_READABLE : 0) |
                         (fds[index].revents & POLLOUT ? DBUS_WATCH_WRITABLE : 0) |
                         (fds[index].revents & POLLERR ? DBUS_WATCH_ERROR : 0) |
                         (fds[index].revents & POLLHUP ? DBUS_WATCH_HANGUP : 0);
        if (flags != 0)
            dbus_watch_handle(polled[index], flags);
    }
    while (dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS)
        continue;
}

/* The service. */

static void reply_number(DBusMessage *call, dbus_uint64_t number) {
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_append_args(reply, DBUS_TYPE_UINT64, &number, DBUS_TYPE_INVALID);
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
}

/* Passes the text of a pipe on in another one. */
static void reply_pipe(DBusMessage *call) {
    int fd = -1, ends[2];
    char text[64];
    dbus_message_get_args(call, NULL, DBUS_TYPE_UNIX_FD, &fd, DBUS_TYPE_INVALID);
    ssize_t len = read(fd, text, sizeof text);
    if (len < 0 || pipe(ends) < 0 || write(ends[1], text, len) != len)
        fail("a pipe");
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_append_args(reply, DBUS_TYPE_UNIX_FD, &ends[0], DBUS_TYPE_INVALID);
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

static dbus_uint64_t number_in(DBusMessage *message) {
    dbus_uint64_t number = -1;
    dbus_message_get_args(message, NULL, DBUS_TYPE_UINT64, &number, DBUS_TYPE_INVALID);
    return number;
}

/* The answer of another connection. */
static dbus_uint64_t ask(DBusConnection *same, dbus_uint64_t peer) {
    char name[32];
    snprintf(name, sizeof name, ":1.%llu", (unsigned long long)peer);
    DBusMessage *question = dbus_message_new_method_call(name, "/", NAME, "Answer");
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(same, question, 10000, NULL);
    dbus_message_unref(question);
    if (!reply)
        fail("an answer");
    dbus_uint64_t number = number_in(reply);
    dbus_message_unref(reply);
    return number;
}

static DBusHandlerResult serve(DBusConnection *same, DBusMessage *call, void *data) {
    dbus_uint64_t number = 0;
    if (!dbus_message_has_interface(call, NAME))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    if (dbus_message_has_member(call, "Pipe")) {
        reply_pipe(call);
        return DBUS_HANDLER_RESULT_HANDLED;
    }
    dbus_message_get_args(call, NULL, DBUS_TYPE_UINT64, &number, DBUS_TYPE_INVALID);
    if (dbus_message_has_member(call, "Leave"))
        exit(0);
    if (dbus_message_has_member(call, "Count")) {
        printf("count %llu\n", (unsigned long long)number);
        fflush(stdout);
        return DBUS_HANDLER_RESULT_HANDLED;
    }
    if (dbus_message_has_member(call, "Ask"))
        number = ask(same, number);
    if (dbus_message_has_member(call, "Wait"))
        usleep(number * 1000);
    if (dbus_message_has_member(call, "Announce")) {
        DBusMessage *signal = dbus_message_new_signal("/", NAME, "Announced");
        dbus_message_append_args(signal, DBUS_TYPE_UINT64, &number, DBUS_TYPE_INVALID);
        dbus_connection_send(same, signal, NULL);
        dbus_message_unref(signal);
    }
    if (dbus_message_has_member(call, "Never"))
        return DBUS_HANDLER_RESULT_HANDLED;
    reply_number(call, number);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static const DBusObjectPathVTable VTABLE = {.message_function = serve};

static void run_service(int has_loop) {
    dbus_connection_register_object_path(connection, "/", &VTABLE, NULL);
    if (has_loop)
        use_loop();
    dbus_bus_request_name(connection, NAME, 0, NULL);
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (!has_loop)
            dbus_connection_read_write_dispatch(connection, -1);
        else
            turn_loop();
    }
}

/* The caller. */

static DBusMessage *new_call(const char *method, dbus_uint64_t number) {
    DBusMessage *call = dbus_message_new_method_call(NAME, "/", NAME, method);
    dbus_message_append_args(call, DBUS_TYPE_UINT64, &number, DBUS_TYPE_INVALID);
    return call;
}

static void call(const char *method, dbus_uint64_t number) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *message = new_call(method, number);
    DBusMessage *reply =
        dbus_connection_send_with_reply_and_block(connection, message, 10000, &error);
    if (reply == NULL) {
        printf("%s\n", error.name);
        dbus_error_free(&error);
    } else {
        if (number_in(reply) != number || !dbus_message_has_destination(
                                              reply, dbus_bus_get_unique_name(connection)))
            fail("a wrong reply");
        dbus_message_unref(reply);
    }
    dbus_message_unref(message);
}

static int waiting;
static dbus_uint64_t expected;

static void notify(DBusPendingCall *pending, void *data) {
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    if (number_in(reply) != expected++)
        fail("a wrong reply of a pending call");
    dbus_message_unref(reply);
    dbus_pending_call_unref(pending);
    waiting--;
}

/* Several calls at once, whose replies a main loop awaits. */
static void call_in_loop(int count) {
    expected = 0;
    use_loop();
    for (int sent = 0; sent < count || waiting > 0;) {
        while (sent < count && waiting < 5) {
            DBusPendingCall *pending;
            DBusMessage *message = new_call("Echo", sent++);
            dbus_connection_send_with_reply(connection, message, &pending, 10000);
            dbus_pending_call_set_notify(pending, notify, NULL, NULL);
            dbus_message_unref(message);
            waiting++;
        }
        turn_loop();
    }
    dbus_connection_set_watch_functions(connection, NULL, NULL, NULL, NULL, NULL);
    dbus_connection_set_timeout_functions(connection, NULL, NULL, NULL, NULL, NULL);
}

static DBusHandlerResult find_reply(DBusConnection *same, DBusMessage *message, void *data) {
    if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_RETURN ||
        dbus_message_get_reply_serial(message) != *(dbus_uint32_t *)data)
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    waiting = 0;
    return DBUS_HANDLER_RESULT_HANDLED;
}

/* Calls whose replies a filter finds. */
static void call_with_filter(int count) {
    dbus_uint32_t serial = 0;
    dbus_connection_add_filter(connection, find_reply, &serial, NULL);
    for (int index = 0; index < count; index++) {
        DBusMessage *message = new_call("Echo", index);
        waiting = 1;
        dbus_connection_send(connection, message, &serial);
        dbus_message_unref(message);
        while (waiting)
            if (!dbus_connection_read_write_dispatch(connection, 10000))
                fail("the end of the connection");
    }
    dbus_connection_remove_filter(connection, find_reply, &serial);
}

static void *call_in_thread(void *count) {
    for (int index = 0; index < *(int *)count; index++)
        call("Echo", index);
    return NULL;
}

static void call_in_threads(int count) {
    pthread_t threads[THREADS];
    for (int number = 0; number < THREADS; number++)
        pthread_create(&threads[number], NULL, call_in_thread, &count);
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
}

static dbus_uint64_t announced;

static DBusHandlerResult note_signal(DBusConnection *same, DBusMessage *message, void *data) {
    if (dbus_message_is_signal(message, NAME, "Announced") && number_in(message) == announced)
        announced++;
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

static void expect_signal(DBusPendingCall *pending, void *data) {
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    if (announced != number_in(reply) + 1)
        fail("the reply was before the signal");
    dbus_message_unref(reply);
    waiting = 0;
}

/* The service emits a signal before each reply to this call. */
static void call_announce(int count) {
    announced = 0;
    dbus_bus_add_match(connection, "member='Announced'", NULL);
    dbus_connection_add_filter(connection, note_signal, NULL, NULL);
    for (int index = 0; index < count; index++) {
        DBusPendingCall *pending;
        DBusMessage *message = new_call("Announce", index);
        waiting = 1;
        dbus_connection_send_with_reply(connection, message, &pending, 10000);
        dbus_pending_call_set_notify(pending, expect_signal, NULL, NULL);
        dbus_message_unref(message);
        while (waiting)
            dbus_connection_read_write_dispatch(connection, 10000);
        dbus_pending_call_unref(pending);
        call("Echo", index);
    }
    dbus_connection_remove_filter(connection, note_signal, NULL);
    dbus_bus_remove_match(connection, "member='Announced'", NULL);
}

static void pass_pipes(int count) {
    for (int index = 0; index < count; index++) {
        int ends[2], fd = -1;
        char text[8] = "";
        if (pipe(ends) < 0 || write(ends[1], "text", 4) != 4)
            fail("a pipe");
        DBusMessage *message = dbus_message_new_method_call(NAME, "/", NAME, "Pipe");
        dbus_message_append_args(message, DBUS_TYPE_UNIX_FD, &ends[0], DBUS_TYPE_INVALID);
        DBusMessage *reply =
            dbus_connection_send_with_reply_and_block(connection, message, 10000, NULL);
        if (reply == NULL ||
            !dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &fd, DBUS_TYPE_INVALID) ||
            read(fd, text, sizeof text) != 4 || strcmp(text, "text") != 0)
            fail("no descriptor in the reply");
        dbus_message_unref(message);
        dbus_message_unref(reply);
        close(fd);
        close(ends[0]);
        close(ends[1]);
    }
}

static void time_out(void) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *message = new_call("Never", 1);
    dbus_connection_send_with_reply_and_block(connection, message, 20, &error);
    printf("%s\n", error.name);
    dbus_error_free(&error);
    dbus_message_unref(message);
}

/* Makes a call that no receiver accepts. A bus disconnects its sender. */
static void call_refused(DBusMessage *message) {
    DBusError error = DBUS_ERROR_INIT;
    dbus_connection_set_exit_on_disconnect(connection, FALSE);
    dbus_connection_send_with_reply_and_block(connection, message, 5000, &error);
    printf("%s\n", dbus_connection_get_is_connected(connection) ? "connected" : "disconnected");
    dbus_error_free(&error);
    dbus_message_unref(message);
}

/* A message has at most 64 variants inside each other. */
static DBusMessage *nested_variants(int count) {
    DBusMessage *message = dbus_message_new_method_call(NAME, "/", NAME, "Echo");
    DBusMessageIter iters[count + 1];
    unsigned char value = 7;
    dbus_message_iter_init_append(message, &iters[0]);
    for (int depth = 0; depth < count; depth++)
        dbus_message_iter_open_container(&iters[depth], DBUS_TYPE_VARIANT,
                                         depth + 1 < count ? "v" : "y", &iters[depth + 1]);
    dbus_message_iter_append_basic(&iters[count], DBUS_TYPE_BYTE, &value);
    for (int depth = count; depth > 0; depth--)
        dbus_message_iter_close_container(&iters[depth - 1], &iters[depth]);
    return message;
}

/* Waits only for the socket of the connection, as some small programs do. */
static void call_with_socket(int count) {
    int fd;
    if (!dbus_connection_get_unix_fd(connection, &fd))
        fail("no descriptor");
    for (int index = 0; index < count; index++) {
        DBusPendingCall *pending;
        DBusMessage *message = new_call("Echo", index);
        dbus_connection_send_with_reply(connection, message, &pending, 10000);
        dbus_message_unref(message);
        dbus_connection_flush(connection);
        while (!dbus_pending_call_get_completed(pending)) {
            struct pollfd polled = {fd, POLLIN, 0};
            if (poll(&polled, 1, 5000) <= 0)
                fail("nothing arrived at the socket");
            dbus_connection_read_write(connection, 0);
            while (dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS)
                continue;
        }
        dbus_pending_call_unref(pending);
    }
}

static void become_monitor(void) {
    DBusConnection *monitor = dbus_bus_get_private(DBUS_BUS_SESSION, NULL);
    DBusMessage *message =
        dbus_message_new_method_call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                     "org.freedesktop.DBus.Monitoring", "BecomeMonitor");
    const char **rules = NULL;
    dbus_uint32_t flags = 0;
    dbus_message_append_args(message, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &rules, 0,
                             DBUS_TYPE_UINT32, &flags, DBUS_TYPE_INVALID);
    dbus_connection_set_exit_on_disconnect(monitor, FALSE);
    DBusMessage *reply =
        dbus_connection_send_with_reply_and_block(monitor, message, 10000, NULL);
    if (reply == NULL)
        fail("BecomeMonitor");
    dbus_message_unref(message);
    dbus_message_unref(reply);
    for (int index = 0; index < 100; index++)
        call("Echo", index);
    /* The monitor sees the calls and their replies, and the bus does not disconnect it. */
    int seen = 0;
    while (dbus_connection_read_write(monitor, 200)) {
        DBusMessage *next = dbus_connection_pop_message(monitor);
        if (next == NULL)
            break;
        do {
            seen += dbus_message_is_method_call(next, NAME, "Echo");
            dbus_message_unref(next);
        } while ((next = dbus_connection_pop_message(monitor)) != NULL);
    }
    printf("seen %d %s\n", seen,
           dbus_connection_get_is_connected(monitor) ? "connected" : "disconnected");
    dbus_connection_close(monitor);
    dbus_connection_unref(monitor);
}

/* A child closes its copy of the connection of its parent, which goes on. */
static void close_in_child(void) {
    DBusConnection *shared = connection;
    connection = dbus_bus_get_private(DBUS_BUS_SESSION, NULL);
    for (int number = 0; number < 300; number++)
        call("Echo", number);
    print_statistics(connection);
    pid_t child = fork();
    if (child == 0) {
        dbus_connection_set_exit_on_disconnect(connection, FALSE);
        dbus_connection_close(connection);
        dbus_connection_unref(connection);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("a child");
    for (int number = 0; number < 300; number++)
        call("Echo", number);
    print_statistics(connection);
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
    connection = shared;
}

static void pause_until_line(void) {
    char line[16];
    puts("paused");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        fail("no line");
}

int main(int argc, char **argv) {
    DBusError error = DBUS_ERROR_INIT;
    dbus_threads_init_default();
    connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    if (connection == NULL)
        fail(error.message);
    if (strncmp(argv[1], "serve-short", 11) == 0)
        dbus_connection_set_max_message_size(connection, 1000);
    if (strncmp(argv[1], "serve", 5) == 0)
        run_service(strstr(argv[1], "-loop") != NULL);
    for (int index = 1; index < argc; index++) {
        const char *step = argv[index];
        if (strcmp(step, "call") == 0)
            for (int number = 0; number < 300; number++)
                call("Echo", number);
        else if (strcmp(step, "loop") == 0)
            call_in_loop(300);
        else if (strcmp(step, "filter") == 0)
            call_with_filter(300);
        else if (strcmp(step, "threads") == 0)
            call_in_threads(300);
        else if (strcmp(step, "announce") == 0)
            call_announce(100);
        else if (strcmp(step, "pipe") == 0)
            pass_pipes(10);
        else if (strcmp(step, "nested") == 0)
            call_refused(nested_variants(65));
        else if (strcmp(step, "local-path") == 0)
            call_refused(dbus_message_new_method_call(NAME, DBUS_PATH_LOCAL, NAME, "Echo"));
        else if (strcmp(step, "local-interface") == 0)
            call_refused(dbus_message_new_method_call(NAME, "/", DBUS_INTERFACE_LOCAL, "Echo"));
        else if (strcmp(step, "timeout") == 0)
            time_out();
        else if (strcmp(step, "socket") == 0)
            call_with_socket(50);
        else if (strcmp(step, "leave") == 0)
            call("Leave", 0);
        else if (strcmp(step, "wait") == 0)
            call("Wait", 300);
        else if (strcmp(step, "monitor") == 0)
            become_monitor();
        else if (strcmp(step, "fork") == 0)
            close_in_child();
        else if (strcmp(step, "replace") == 0)
            dbus_message_unref(call_bus(connection, "org.diligence.Daemon1", "Reexecute"));
        else if (strcmp(step, "pause") == 0)
            pause_until_line();
        else if (strcmp(step, "statistics") == 0)
            print_statistics(connection);
        else
            fail(step);
    }
    puts("done");
    return 0;
}
