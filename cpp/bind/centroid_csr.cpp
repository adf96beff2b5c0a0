// The centroid family on compressed sparse rows.
#include "centroid_rows.hpp"

namespace coterie::bind {

void add_centroid_csr(nb::module_& m) {
    for_csr_rows([&]<class Given>() { add_centroid_for<Given>(m); });
}

}  // namespace coterie::bind
