// However a program ends, what it has recorded is kept.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <nvToolsExt.h>

__global__ void add(int* x) { atomicAdd(x, 1); }
__global__ void fails(int* x) {
  if (threadIdx.x == 5) x[-(1ll << 50)] = 1;
}

int main(int, char** arguments) {
  const char* how = arguments[1];
  int* x = nullptr;
  cudaMalloc(&x, 4);
  nvtxRangePushA("open to the end");
  for (int i = 0; i < 7; ++i) add<<<2, 32>>>(x);
  if (!std::strcmp(how, "abort")) std::abort();
  if (!std::strcmp(how, "exit")) std::exit(3);
  if (!std::strcmp(how, "term")) raise(SIGTERM);
  if (!std::strcmp(how, "fault")) *reinterpret_cast<volatile int*>(8) = 1;
  if (!std::strcmp(how, "kernel")) {
    fails<<<1, 32>>>(x);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 4 : 1;
  }
  if (!std::strcmp(how, "fork")) {
    const pid_t child = fork();
    if (child == 0) {
      nvtxRangePushA("of the child");
      std::exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
  }
  if (!std::strcmp(how, "children")) {
    char command[4200];
    std::snprintf(command, sizeof command, "'%s' return && '%s' return", arguments[0], arguments[0]);
    return std::system(command);
  }
  if (!std::strcmp(how, "part")) {
    cudaProfilerStart();
    for (int i = 0; i < 2; ++i) add<<<2, 32>>>(x);
    cudaProfilerStop();
    add<<<2, 32>>>(x);
  }
  return 0;
}
