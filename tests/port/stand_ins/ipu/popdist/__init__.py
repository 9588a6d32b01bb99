"""A stand-in for PopDist outside of poprun."""


def isPopdistEnvSet():
    return False


def init():
    raise AssertionError("not under poprun")


def getInstanceIndex():
    raise AssertionError("not under poprun")


getNumInstances = getNumLocalReplicas = getNumTotalReplicas = getInstanceIndex
