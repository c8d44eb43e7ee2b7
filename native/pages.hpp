// Fresh memory in large pages, where the system has them: touching 4 KiB pages one by one
// costs more than decoding into them.
#pragma once
#include <cstddef>

namespace tracekit {

constexpr size_t kPage = size_t{1} << 12, kLargePage = size_t{1} << 21;

constexpr size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

// `bytes` (whole pages), aligned to a large page.  Throws std::bad_alloc.
void* map_pages(size_t bytes);
// Any whole pages of a mapping can be given back on their own.
void unmap_pages(void* start, size_t bytes) noexcept;
// Whether map_pages can give back parts; without it ordinary memory is used.
bool pages_available();

}  // namespace tracekit
