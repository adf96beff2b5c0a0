// Which instruction sets this machine can run; compiled for the baseline so that it always loads.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;

NB_MODULE(_cpu, m) {
    m.def(
        "supported_isas",
        [] {
            std::vector<std::string> isas;
#if defined(__x86_64__)
            __builtin_cpu_init();
            if (__builtin_cpu_supports("x86-64-v2")) isas.push_back("v2");
            if (__builtin_cpu_supports("x86-64-v3")) isas.push_back("v3");
            if (__builtin_cpu_supports("x86-64-v4")) isas.push_back("v4");
#else
            isas.push_back("baseline");
#endif
            return isas;
        },
        "Names of the kernel builds this processor can run, slowest first.");
}
