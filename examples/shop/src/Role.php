<?php

declare(strict_types=1);

namespace Shop;

/** What an operator may do. Each role may also do what the roles before it may. */
enum Role: string
{
    /** Opens the dashboard and looks orders up. */
    case Reader = 'reader';
    /** Also resumes claims and grants by hand. */
    case Support = 'support';
    /** Also opens the event log, which names the operators, and exports what names accounts. */
    case Admin = 'admin';

    public function includes(self $other): bool
    {
        $ranks = array_flip(array_column(self::cases(), 'value'));

        return $ranks[$this->value] >= $ranks[$other->value];
    }
}
