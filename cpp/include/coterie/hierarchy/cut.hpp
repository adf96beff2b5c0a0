// Labels of the rows below some nodes of a tree of merges.
#pragma once

#include <cstdint>

namespace coterie {

// Give every node that is part of a labelled one, 0 or more, its label. Merge i joins the nodes
// parts[2 i] and parts[2 i + 1] into node n_merges + 1 + i.
inline void hand_labels_down(const std::int64_t* parts, std::int64_t n_merges,
                             std::int64_t* labels) {
    for (std::int64_t i = n_merges - 1; i >= 0; --i) {
        const std::int64_t label = labels[n_merges + 1 + i];
        if (label >= 0) labels[parts[2 * i]] = labels[parts[2 * i + 1]] = label;
    }
}

}  // namespace coterie
