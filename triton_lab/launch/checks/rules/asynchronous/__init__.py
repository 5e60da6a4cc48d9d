"""Rules of Gluon kernels: what they wait for, fence and count. The engine stops a launch that breaks one."""
