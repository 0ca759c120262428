/* Moves the time of day of one process forward, by the number of seconds in a file (64 bits).
 *
 * Programs that call the vDSO directly get this time too: its functions are replaced in the memory of
 * this process, like a debugger does. Loaded by LD_PRELOAD; DILIGENCE_CLOCK is the path of the file. */

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead;

static int our_clock_gettime(clockid_t clock, struct timespec *at)
{
    if (syscall(SYS_clock_gettime, clock, at) != 0)
        return -errno;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        at->tv_sec += *ahead;
    return 0;
}

static int our_gettimeofday(struct timeval *at, void *zone)
{
    (void)zone;
    struct timespec now;
    our_clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

static time_t our_time(time_t *at)
{
    struct timespec now;
    our_clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}

/* Replaces a function of the vDSO by a jump to a function of this file. */
static void redirect(unsigned char *from, void *to)
{
    /* mov rax, to; jmp rax */
    unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    memcpy(jump + 2, &to, sizeof to);
    memcpy(from, jump, sizeof jump);
}

static void redirect_all(unsigned char *vdso)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(vdso + header->e_shoff);
    for (int at = 0; at < header->e_shnum; at++) {
        if (sections[at].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(vdso + sections[at].sh_offset);
        const char *names = (const char *)(vdso + sections[sections[at].sh_link].sh_offset);
        size_t count = sections[at].sh_size / sizeof *symbols;
        for (size_t symbol = 0; symbol < count; symbol++) {
            const char *name = names + symbols[symbol].st_name;
            unsigned char *code = vdso + symbols[symbol].st_value;
            if (strcmp(name, "__vdso_clock_gettime") == 0)
                redirect(code, our_clock_gettime);
            else if (strcmp(name, "__vdso_gettimeofday") == 0)
                redirect(code, our_gettimeofday);
            else if (strcmp(name, "__vdso_time") == 0)
                redirect(code, our_time);
        }
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("DILIGENCE_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    unsigned char *vdso = (unsigned char *)getauxval(AT_SYSINFO_EHDR);
    if (mapped == MAP_FAILED || !vdso)
        abort();
    ahead = mapped;
    /* The section table is at the end of the vDSO. */
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t len = header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr);
    len = (len + page - 1) / page * page;
    if (mprotect(vdso, len, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        abort();
    redirect_all(vdso);
    if (mprotect(vdso, len, PROT_READ | PROT_EXEC) != 0)
        abort();
}
