/* Preloaded by the tests of dbus-daemon after our library and a copy of Debian's libdbus with
 * another name. Our library has the public functions; the private functions that the tests use come
 * from the copy. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void prepare(void) {
    const char *name = getenv("PRIVATE_LIBRARY"), *expected = getenv("PUBLIC_LIBRARY");
    void *copy = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
    Dl_info found;
    if (copy == NULL || dladdr(dlsym(RTLD_DEFAULT, "dbus_bus_get"), &found) == 0 ||
        strcmp(found.dli_fname, expected) != 0) {
        fprintf(stderr, "the libraries are not in use\n");
        abort();
    }
    /* The program initializes only the locks of our library, and not the locks of the copy. */
    unsigned (*initialize)(void *) = (unsigned (*)(void *))dlsym(copy, "dbus_threads_init");
    initialize(NULL);
    /* The buses that the tests start use Debian's library. */
    unsetenv("LD_PRELOAD");
}
