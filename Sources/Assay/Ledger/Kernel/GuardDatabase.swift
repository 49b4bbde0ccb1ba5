/// The tables whose rows expire and may be lost: every engine has them, Redis too (STO-13).
protocol GuardDatabase: LedgerDatabase, MeterTable, ChallengeTable, EventTable {}
