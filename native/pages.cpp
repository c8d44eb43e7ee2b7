#include "pages.hpp"

#include <cstdint>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>

namespace tracekit {

void* map_pages(size_t bytes) {
  void* mapped =
      mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto low = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t start = (low + kLargePage - 1) & ~(kLargePage - 1);
  const uintptr_t spare = low + kLargePage - start;
  if (start > low) munmap(mapped, start - low);
  if (spare) munmap(reinterpret_cast<void*>(start + bytes), spare);
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(start), bytes, MADV_HUGEPAGE);
#endif
  return reinterpret_cast<void*>(start);
}

void unmap_pages(void* start, size_t bytes) noexcept { munmap(start, bytes); }

bool pages_available() { return true; }

}  // namespace tracekit
#else
namespace tracekit {

void* map_pages(size_t bytes) { return ::operator new(bytes); }
void unmap_pages(void* start, size_t) noexcept { ::operator delete(start); }
bool pages_available() { return false; }

}  // namespace tracekit
#endif
