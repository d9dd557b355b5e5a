/// Columns of a hand's coordinates, by name and unit, from the names of its degrees of freedom
/// alone.
#pragma once

#include <string>
#include <vector>

namespace handhold::pipeline {

/// Of a velocity coordinate: a free joint's last three are places.
bool IsPlace(const std::string& dof);
/// "_rad" or "_m" after its name.
std::string DofColumn(const std::string& dof);

/// The nq coordinates of a hand with these dofs: an angle by its name and "_rad"; of a free joint
/// x_m y_m z_m qw qx qy qz, of a ball joint qw qx qy qz, after the joint's name. "q0", "q1", ...
/// where the names do not tell the joints apart. Tests: tests/tools/pipeline/export_table_test.cc.
std::vector<std::string> CoordinateColumns(const std::vector<std::string>& dofs, size_t nq);

}  // namespace handhold::pipeline
