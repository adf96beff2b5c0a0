// One extension module per instruction set; every family adds its functions.
#include <nanobind/nanobind.h>

#include <atomic>
#include <thread>

#include "coterie/simd/simd.hpp"

namespace nb = nanobind;

namespace coterie::bind {
void add_centroid(nb::module_& m);
void add_centroid_csr(nb::module_& m);
void add_colors(nb::module_& m);
void add_density(nb::module_& m);
void add_evaluate(nb::module_& m);
void add_graph(nb::module_& m);
void add_hdbscan(nb::module_& m);
void add_hierarchy(nb::module_& m);
void add_medoid(nb::module_& m);
void add_minibatch(nb::module_& m);
void add_mixture(nb::module_& m);
void add_neighbors(nb::module_& m);
void add_quantize(nb::module_& m);
void add_search(nb::module_& m);
void add_search_lists(nb::module_& m);
void add_seeding(nb::module_& m);
void add_vocabulary_tree(nb::module_& m);
}  // namespace coterie::bind

// threadpoolctl finds these by name in the loaded library; 0 means no limit.
static std::atomic<int> thread_limit{0};
extern "C" __attribute__((visibility("default"))) void coterie_set_num_threads(int n) {
    thread_limit = n;
}
extern "C" __attribute__((visibility("default"))) int coterie_get_num_threads() {
    const int limit = thread_limit;
    return limit > 0 ? limit : static_cast<int>(std::thread::hardware_concurrency());
}

NB_MODULE(COTERIE_MODULE, m) {
    nb::set_leak_warnings(false);  // an index may live as long as the process: nothing prints
    m.attr("isa") = COTERIE_ISA;
    coterie::has_dots = COTERIE_HAS_DOTS;
    m.attr("vector_bytes") = coterie::vector_bytes;
    m.def(
        "thread_limit", [] { return thread_limit.load(); },
        "The limit threadpoolctl has set, 0 for none.");
    coterie::bind::add_centroid(m);
    coterie::bind::add_centroid_csr(m);
    coterie::bind::add_colors(m);
    coterie::bind::add_density(m);
    coterie::bind::add_evaluate(m);
    coterie::bind::add_graph(m);
    coterie::bind::add_hdbscan(m);
    coterie::bind::add_hierarchy(m);
    coterie::bind::add_medoid(m);
    coterie::bind::add_minibatch(m);
    coterie::bind::add_mixture(m);
    coterie::bind::add_neighbors(m);
    coterie::bind::add_quantize(m);
    coterie::bind::add_search(m);
    coterie::bind::add_search_lists(m);
    coterie::bind::add_seeding(m);
    coterie::bind::add_vocabulary_tree(m);
}
