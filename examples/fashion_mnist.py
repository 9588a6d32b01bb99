"""The Fashion-MNIST tutorial of PopTorch, whose program it is but for its imports:

    import torch.nn as nn                    from cosmictagger import nn
    import poptorch                          import cosmictagger as poptorch
    import torchvision                       from cosmictagger.datasets import FashionMNIST

    python3 examples/fashion_mnist.py [EPOCHS]
"""

import sys

import cosmictagger as poptorch
from cosmictagger import nn
from cosmictagger.datasets import FashionMNIST


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 5, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(5, 12, 5)
        self.norm = nn.GroupNorm(3, 12)
        self.fc1 = nn.Linear(972, 100)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(100, 10)
        self.log_softmax = nn.LogSoftmax(dim=1)
        self.loss = nn.NLLLoss()

    def forward(self, x, labels=None):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.norm(self.relu(self.conv2(x)))
        x = x.flatten(1)
        x = self.log_softmax(self.fc2(self.relu(self.fc1(x))))
        return (x, self.loss(x, labels)) if self.training else x


epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 5

# Fifteen lines.
model = Classifier()
options = poptorch.Options()
train_data = poptorch.DataLoader(options, FashionMNIST(train=True), batch_size=16, shuffle=True)
optimizer = poptorch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
training = poptorch.trainingModel(model, options=options, optimizer=optimizer)
for epoch in range(epochs):
    for images, labels in train_data:
        output, loss = training(images, labels)
    print(f"[Epoch {epoch + 1:02}] Loss={loss:.3g}")
training.detachFromDevice()
inference = poptorch.inferenceModel(model.eval(), options=options)
test_data = poptorch.DataLoader(options, FashionMNIST(train=False), batch_size=16)
right = sum((inference(images).argmax(axis=1) == labels).sum() for images, labels in test_data)
inference.detachFromDevice()
print(f"Eval accuracy: {100 * right / (len(test_data) * 16):.2f}%")
