// Declares gloo's transport types for ProcessGroupGloo.hpp; never defined here.
#pragma once
namespace gloo::transport {
class Device;
class UnboundBuffer {
 public:
  virtual ~UnboundBuffer();
};
}  // namespace gloo::transport
