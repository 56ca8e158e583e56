"""transformers.Trainer, with batches as dictionaries and an evaluation in each epoch."""
import tempfile

import torch
import transformers


class Texts(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        words = torch.full((16,), index % 50)
        return {"input_ids": words, "attention_mask": torch.ones_like(words), "labels": words}


configuration = transformers.GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=1, n_head=2)
with tempfile.TemporaryDirectory() as folder:
    arguments = transformers.TrainingArguments(folder, num_train_epochs=8, per_device_train_batch_size=8, use_cpu=True,
                                               eval_strategy="epoch", save_strategy="no", report_to=[], logging_steps=10)
    model = transformers.GPT2LMHeadModel(configuration)
    transformers.Trainer(model, arguments, train_dataset=Texts(320), eval_dataset=Texts(32)).train()
print("finally")
