"""A row's batches and training step in PyTorch: eager, compiled (torch.compile) or as one CUDA graph."""
import torch
from network import ResNet18
from phase_clock import PhaseClock

WARM_UP_STEPS = 3  # on a stream of its own before recording, as PyTorch's manual asks
UNTIMED = PhaseClock(False)


class Batches:
    """ring_depth random batches in host memory, made once, and their copies on the device."""

    def __init__(self, row, device):
        self.row, self.device, self.number = row, device, 0
        size, px = row["batch"], row["image_px"]
        if row["batch_format"] == "uint8":
            self.host = [torch.randint(256, (size, px, px, 3), dtype=torch.uint8) for _ in range(row["ring_depth"])]
        else:
            self.host = [torch.randn(size, 3, px, px) for _ in range(row["ring_depth"])]
            if row["batch_format"] == "channels_last":
                self.host = [images.contiguous(memory_format=torch.channels_last) for images in self.host]
        self.labels = [torch.randint(row["classes"], (size,)) for _ in self.host]
        if device.type == "cpu":
            self.on_device = torch.zeros_like(self.host[0]), torch.zeros_like(self.labels[0])
        elif row["pinned"]:
            self.host, self.labels = [[tensor.pin_memory() for tensor in tensors] for tensors in (self.host, self.labels)]
        self.copies = torch.cuda.Stream() if device.type == "cuda" and row["prefetch"] else None
        self.coming = None

    def next(self, clock):
        """Enters load and h2d. Returns images in the batch's own format, and labels."""
        clock.enter("load")
        host = self.next_of_host()
        clock.enter("h2d")
        if self.device.type == "cpu":
            for target, source in zip(self.on_device, host):
                target.copy_(source)
            return self.on_device
        if self.copies:
            if not self.coming:
                self.coming, host = self.copied_beside(host), self.next_of_host()
            copied, arrived = self.coming
            torch.cuda.current_stream().wait_event(arrived)
            for tensor in copied:
                tensor.record_stream(torch.cuda.current_stream())
            self.coming = self.copied_beside(host)
        else:
            copied = self.copied(host)
        if self.row["synchronize_copies"]:
            torch.cuda.synchronize()
        return copied

    def next_of_host(self):
        number = self.number % len(self.host)
        self.number += 1
        return self.host[number], self.labels[number]

    def copied(self, host):
        return [tensor.to(self.device, non_blocking=self.row["non_blocking"]) for tensor in host]

    def copied_beside(self, host):
        with torch.cuda.stream(self.copies):
            return self.copied(host), self.copies.record_event()


class Step:
    """Forward, loss with top-1 and top-5, backward, SGD. compiled: torch.compile(max-autotune) of everything up to the loss."""

    def __init__(self, row, device):
        self.row, self.device = row, device
        self.compiled = row["engine"] == "pytorch_compiled"
        self.fuses = self.compiled or row["cuda_graphs"]  # then the pixels are normalised in `forward`, otherwise in `h2d`
        self.sixteen_bit = None
        if row["precision"] != "o0":
            half = row["precision"] == "o3" and device.type == "cuda"
            self.sixteen_bit = torch.float16 if half else torch.bfloat16
        layout = torch.channels_last if row["channels_last"] else torch.contiguous_format
        self.model = ResNet18(row["width"], row["classes"]).to(device, memory_format=layout)
        if row["precision"] == "o3":
            self.model.to(self.sixteen_bit)
        self.sgd = torch.optim.SGD(self.model.parameters(), lr=row["learning_rate"], momentum=row["momentum"],
                                   weight_decay=row["weight_decay"], fused=row["fused_sgd"] or None)
        self.mean, self.deviation = (torch.tensor(values, device=device).view(1, 3, 1, 1) * 255
                                     for values in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
        self.compute = torch.compile(self.forward_and_loss, mode="max-autotune") if self.compiled else self.forward_and_loss
        self.replay = None

    def prepared(self, images):
        """Normalised, in the layout and type of the first convolution."""
        if images.dtype == torch.uint8:
            images = (images.permute(0, 3, 1, 2).float() - self.mean) / self.deviation
            images = images if self.row["channels_last"] else images.contiguous()
        if self.row["channels_last"]:
            images = images.contiguous(memory_format=torch.channels_last)
        return images.to(self.sixteen_bit) if self.row["precision"] == "o3" else images

    def forward(self, images):
        images = self.prepared(images) if self.fuses else images
        # A recorded cast would be replayed with the weights of the recording.
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.row["precision"] == "bf16",
                            cache_enabled=not self.row["cuda_graphs"]):
            return self.model(images).float()

    @staticmethod
    def loss(logits, labels):
        loss = torch.nn.functional.cross_entropy(logits, labels)
        with torch.no_grad():
            hits = logits.topk(min(5, logits.size(1)), 1).indices.eq(labels.unsqueeze(1))
            return loss, torch.stack([loss.detach().double(), hits[:, 0].sum().double(), hits.sum().double()])

    def forward_and_loss(self, images, labels):
        return self.loss(self.forward(images), labels)

    def run(self, batches, clock, read):
        """One step on the next batch. Returns loss, top-1 and top-5, on the host if `read`."""
        images, labels = batches.next(clock)
        if self.replay:
            clock.enter("forward")
            metrics = self.replay(images, labels)
            clock.enter("loss")
            metrics = metrics.cpu() if read else metrics.clone()
        else:
            metrics = self.run_as_always(images if self.fuses else self.prepared(images), labels, clock, read)
        clock.enter("other")
        return metrics

    def run_as_always(self, images, labels, clock, read, update=True):
        clock.enter("forward")
        if self.compiled:
            loss, metrics = self.compute(images, labels)
            clock.enter("loss")
        else:
            logits = self.forward(images)
            clock.enter("loss")
            loss, metrics = self.loss(logits, labels)
        metrics = metrics.cpu() if read else metrics.clone()  # what a compiled step returns is overwritten by the next one
        clock.enter("backward")
        loss.backward()
        clock.enter("step")
        if update:
            self.sgd.step()
        self.sgd.zero_grad()
        return metrics

    def warm_up(self, batches):
        """A few steps without an update: compiles, records, and allocates memory."""
        images, labels = batches.next(UNTIMED)
        images = images if self.fuses else self.prepared(images)
        for _ in range(WARM_UP_STEPS):
            self.run_as_always(images, labels, UNTIMED, read=False, update=False)

    def record(self, batches):
        """The whole step as a CUDA graph on fixed inputs."""
        images, labels = (tensor.clone() for tensor in batches.next(UNTIMED))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP_STEPS):
                self.run_as_always(images, labels, UNTIMED, read=False)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            metrics = self.run_as_always(images, labels, UNTIMED, read=False)

        def replay(new_images, new_labels):
            images.copy_(new_images)
            labels.copy_(new_labels)
            graph.replay()
            return metrics

        self.replay = replay
