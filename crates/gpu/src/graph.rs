//! Graphs: chains of kernels that a stream repeats as one operation.

use crate::driver::GraphId;
use crate::launch::Uses;
use crate::{Device, Error, Launch};

/// A chain of kernels with their arguments. One call repeats it, which takes less time than a call for each kernel.
/// The chain keeps its buffers. Other contents of the buffers give other results.
#[derive(Debug)]
pub struct Graph {
    device: Device,
    id: GraphId,
    uses: Uses,
}

impl Graph {
    /// Records kernels that run in order. Runs nothing.
    ///
    /// # Errors
    /// [`Error::Launch`] if arguments, grid or block do not fit a kernel; the errors of the device.
    pub fn new(device: &Device, launches: &[Launch<'_>]) -> Result<Self, Error> {
        let (mut requests, mut uses) = (Vec::new(), Uses::new());
        for launch in launches {
            let (request, of_launch) = launch.request(device)?;
            requests.push(request);
            uses.extend(of_launch);
        }
        Ok(Self { device: device.clone(), id: device.driver().record(requests)?, uses })
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn id(&self) -> GraphId {
        self.id
    }

    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.device.driver().drop_graph(self.id);
    }
}
