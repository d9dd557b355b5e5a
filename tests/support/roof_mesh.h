/// A closed mesh of our own, as text STL in mm: a roof of 160 x 120 x 12 mm.
#pragma once

#include <filesystem>
#include <fstream>

namespace handhold::testing {

inline void WriteRoof(const std::filesystem::path& path) {
  const double corner[5][3] = {{-80, -60, 0}, {80, -60, 0}, {80, 60, 0}, {-80, 60, 0}, {0, 0, 12}};
  const int face[6][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {0, 3, 2}, {0, 2, 1}};
  std::ofstream out(path);
  out << "solid roof\n";
  for (const auto& f : face) {
    out << "facet normal 0 0 0\nouter loop\n";
    for (const int c : f)
      out << "vertex " << corner[c][0] << " " << corner[c][1] << " " << corner[c][2] << "\n";
    out << "endloop\nendfacet\n";
  }
  out << "endsolid roof\n";
}

}  // namespace handhold::testing
