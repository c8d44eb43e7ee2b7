/* A stand-in for libamdhip64: checks the shape of every call and hands launches to a callback. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_FOUND = 500 };

typedef int (*launch_callback)(const void *image, const char *symbol, const unsigned *shape,
                               void *stream, const void *kernarg, size_t size);

static launch_callback on_launch;
static int modules;

struct function {
  const void *image;
  char *symbol;
};

void standin_on_launch(launch_callback callback) { on_launch = callback; }
int standin_modules(void) { return modules; }

const char *hipGetErrorString(int status) {
  return status == NOT_FOUND ? "named symbol not found" : "invalid argument";
}

int hipModuleLoadData(void **module, const void *image) {
  if (!module || !image || memcmp(image, "\177ELF", 4)) return INVALID_VALUE;
  modules++;
  *module = (void *)image;
  return SUCCESS;
}

int hipModuleGetFunction(void **function, void *module, const char *symbol) {
  if (!function || !module || !symbol) return INVALID_VALUE;
  if (strncmp(symbol, "zyfa_", 5)) return NOT_FOUND;
  struct function *made = malloc(sizeof *made);
  made->image = module;
  made->symbol = strdup(symbol);
  *function = made;
  return SUCCESS;
}

int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned lds, void *stream, void **params,
                          void **extra) {
  struct function *f = function;
  if (!f || params || !extra) return INVALID_VALUE;
  if ((size_t)extra[0] != 1 || (size_t)extra[2] != 2 || (size_t)extra[4] != 3) return INVALID_VALUE;
  unsigned shape[7] = {gx, gy, gz, bx, by, bz, lds};
  return on_launch(f->image, f->symbol, shape, stream, extra[1], *(size_t *)extra[3]);
}
