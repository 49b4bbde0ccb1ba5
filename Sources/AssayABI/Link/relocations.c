/*
 * relocations.c - frees what loading left behind.
 *
 * The loader reads the library's table of relocations once, which makes
 * hundreds of KB of it resident, and it is never looked at again. It is a clean part of a
 * file: if anything reads it after all, the kernel fetches it again.
 */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The linker's: musl's <link.h> declares none. */
extern ElfW(Dyn) _DYNAMIC[];
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

__attribute__((constructor)) static void assay_give_back_relocations(void) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t base = (uintptr_t)&__ehdr_start;
  uintptr_t start = 0;
  uintptr_t length = 0;
  const ElfW(Dyn) * entry;
  for (entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
    /* The loader may have replaced the offset by the address. */
    if (entry->d_tag == DT_RELA)
      start = entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr
                                       : entry->d_un.d_ptr;
    else if (entry->d_tag == DT_RELASZ)
      length = entry->d_un.d_val;
  }
  if (page == 0 || start == 0 || length < page) return;
  /* Whole pages of the table alone. */
  uintptr_t end = (start + length) & ~(page - 1);
  start = (start + page - 1) & ~(page - 1);
  if (start < end) (void)madvise((void *)start, end - start, MADV_DONTNEED);
}
