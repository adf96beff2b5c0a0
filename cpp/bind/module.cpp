// One extension module per instruction set; every family adds its functions.
#include <nanobind/nanobind.h>

#include "coterie/simd.hpp"

namespace nb = nanobind;

namespace coterie::bind {
void add_centroid(nb::module_& m);
}

NB_MODULE(COTERIE_MODULE, m) {
    m.attr("isa") = COTERIE_ISA;
    m.attr("vector_bytes") = coterie::vector_bytes;
    coterie::bind::add_centroid(m);
}
