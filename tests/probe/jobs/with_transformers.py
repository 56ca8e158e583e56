"""The Trainer of transformers, with an evaluation after each epoch."""
import torch
import transformers


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        return {"input_ids": torch.arange(5 + index % 3) % 50, "labels": index % 2}


class Tokenizer:
    """Pads as a real one, without its files."""
    padding_side = "right"

    def __call__(self, features):
        longest = max(len(one["input_ids"]) for one in features)
        ids = [torch.nn.functional.pad(one["input_ids"], (0, longest - len(one["input_ids"]))) for one in features]
        return transformers.BatchEncoding({"input_ids": torch.stack(ids), "labels": torch.tensor([one["labels"] for one in features])})


config = transformers.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
arguments = transformers.TrainingArguments("out", num_train_epochs=3, per_device_train_batch_size=4, eval_strategy="epoch",
                                           save_strategy="no", report_to=[], use_cpu=True, logging_steps=1)
trainer = transformers.Trainer(transformers.BertForSequenceClassification(config), arguments, train_dataset=Texts(),
                               eval_dataset=torch.utils.data.Subset(Texts(), range(20)), data_collator=Tokenizer())
trainer.train()
