#include "database/store/network_path.h"

#include <sys/vfs.h>

#include <cstdint>
#include <map>

namespace handhold::store {
namespace {

std::string& Pretended() {
  static std::string prefix;
  return prefix;
}

}  // namespace

void PretendNetworkFileSystem(const std::string& prefix) { Pretended() = prefix; }

std::string NetworkFileSystem(const std::string& path) {
  if (const std::string& pretended = Pretended();
      !pretended.empty() && path.compare(0, pretended.size(), pretended) == 0)
    return "nfs";
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return "";
  static const std::map<uint32_t, const char*> kinds = {
      {0x6969, "nfs"},        {0x517B, "smb"},      {0xFE534D42, "smb2"}, {0xFF534D42, "cifs"},
      {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"}, {0x00C36400, "ceph"}, {0x5346414F, "afs"},
      {0x19830326, "fhgfs"},  {0x01021997, "9p"}};
  const auto kind = kinds.find(static_cast<uint32_t>(info.f_type));
  return kind == kinds.end() ? "" : kind->second;
}

}  // namespace handhold::store
