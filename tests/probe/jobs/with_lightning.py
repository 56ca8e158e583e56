"""Lightning's Trainer, with a validation after each epoch and one before the first."""
import lightning
import torch


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.layer(x), y)

    def validation_step(self, batch, _):
        self.log("valid", self.layer(batch[0]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(length):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(length, 8), torch.randint(2, (length,))), 4)


trainer = lightning.Trainer(max_epochs=3, logger=False, enable_checkpointing=False, accelerator="cpu", log_every_n_steps=1)
trainer.fit(Model(), loader(160), loader(20))
