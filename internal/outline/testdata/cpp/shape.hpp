// Shapes and what to do with them.

#pragma once
#include <string>

namespace geo::detail { inline int hidden() { return 1; } }

namespace geo {

/// A point in the plane.
struct Point {
  double x = 0, y = 0;  ///< where
  friend bool operator==(const Point&, const Point&) = default;
};

/**
 * @brief Something with an area.
 */
template <typename T = double>
class Shape : public Base, private Other<T> {
 public:
  using value_type = T;
  explicit Shape(std::string name) : name_(std::move(name)) {}
  virtual ~Shape() = default;
  /// Its area.
  virtual T area() const noexcept = 0;
  Shape& operator=(const Shape&) = delete;
  static constexpr int kMax = 3;
  enum class Kind : char { round, square };

 protected:
  void touch();

 private:
  std::string name_;
  T values_[4]{};
};

template <class T>
T Shape<T>::twice() const { return 2 * area(); }

double Circle::area() const { return 3.14 * r * r; }

auto add(int a, int b) -> int;
extern int counter;
using Names = std::vector<std::string>;
template <typename T> concept Shaped = requires(T t) { t.area(); };
constexpr char raw[] = R"x(// not a comment)x";

namespace { int local = 1; }

}  // namespace geo
