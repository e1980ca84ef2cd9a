"""A whole cluster in virtual time in which all goes wrong that can, and a scheduler that has to cope.

    inhabitants ----> ApiServer <---- network (faults) <---- SchedulerProcess
    users, kubelets,      |                                        |
    another scheduler     +--------------> checks <----------------+
                                    after every step, and at the end

A seed decides everything.  One seed gives one run, whatever the machine:

    python -m berthing.simulate.faults --seeds 200
    python -m berthing.simulate.faults --first-seed 17 --seeds 1 -v
"""
