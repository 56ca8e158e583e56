"""Lightning's Trainer with a validation in each epoch."""
import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(32, 4)

    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

    def validation_step(self, batch, number):
        self.layer(batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def loader(count):
    return DataLoader(TensorDataset(torch.randn(count, 32), torch.randint(4, (count,))), batch_size=8)


trainer = lightning.Trainer(max_epochs=8, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                            enable_model_summary=False)
trainer.fit(Model(), loader(320), loader(32))
print("finally")
