// The levels of x86-64 that this processor runs; CMake asks, too, to build for one machine alone.
#pragma once

#if defined(__clang__) && __clang_major__ < 18
// Such a clang does not know the levels by name: by features that come with the rest of a level.
inline bool runs_v2() {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}
inline bool runs_v3() {
    return runs_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
inline bool runs_v4() {
    return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
inline bool runs_v2() { return __builtin_cpu_supports("x86-64-v2"); }
inline bool runs_v3() { return __builtin_cpu_supports("x86-64-v3"); }
inline bool runs_v4() { return __builtin_cpu_supports("x86-64-v4"); }
#endif
