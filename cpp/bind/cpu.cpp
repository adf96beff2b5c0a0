// Which instruction sets this machine can run; compiled for the baseline so that it always loads.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#if defined(__x86_64__)
#include "x86_levels.hpp"
#endif

namespace nb = nanobind;

NB_MODULE(_cpu, m) {
    m.def(
        "supported_isas",
        [] {
            std::vector<std::string> isas;
#if defined(__x86_64__)
            __builtin_cpu_init();
            if (runs_v2()) isas.push_back("v2");
            if (runs_v3()) isas.push_back("v3");
            if (runs_v4()) isas.push_back("v4");
            if (runs_v4() && __builtin_cpu_supports("avx512vnni")) isas.push_back("v4n");
#else
            isas.push_back("baseline");
#endif
            return isas;
        },
        "Names of the kernel builds this processor can run, slowest first.");
}
