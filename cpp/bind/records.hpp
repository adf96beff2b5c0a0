// Records: what belongs together crosses from Python as one object, whose attributes are read here
// by name. A C++ record is a struct with `bool read(nb::handle)`, false where an attribute is
// missing or not what the kernel takes; the call is then refused as for any argument of a wrong
// type. Arrays are never converted, since what is written to them must reach the caller.
#pragma once

#include <nanobind/nanobind.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace coterie::bind {

template <class T>
concept Record = requires(T record, nanobind::handle from) {
    { record.read(from) } -> std::same_as<bool>;
};

template <class T>
bool read_attribute(nanobind::handle from, const char* name, T& into) {
    const auto value = nanobind::steal<nanobind::object>(PyObject_GetAttrString(from.ptr(), name));
    if (!value.is_valid()) PyErr_Clear();
    return value.is_valid() && nanobind::try_cast(value, into, std::is_arithmetic_v<T>);
}

}  // namespace coterie::bind

namespace nanobind::detail {

template <class T>
    requires coterie::bind::Record<T>
struct type_caster<T> {
    NB_TYPE_CASTER(T, const_name("object"))
    bool from_python(handle from, std::uint8_t, cleanup_list*) noexcept { return value.read(from); }
};

}  // namespace nanobind::detail
