<?php

/**
 * Sends mail.
 *
 * @license MIT-like
 */

declare(strict_types=1);

namespace App\Mail;

use Psr\Log\LoggerInterface as Log;
use App\{Queue, Config\Loader};

const LIMIT = 10;

/**
 * Sends one mail after the other.
 */
#[Service]
final class Mailer extends Base implements Sender, \Countable
{
    use Loggable;

    /** @var string */
    public const NAME = 'mailer';
    private ?Log $log = null, $spare;
    public static int $count = 0;

    public function __construct(private Queue $queue, string ...$hosts)
    {
        // nothing
        parent::__construct("{$queue} // x");
    }

    /**
     * Sends it.
     * @param string $to whom
     */
    public function send(string $to, int|null $retries = 3): bool { return true; }
    protected abstract function deliver(): void;
    private static function helper() {}
}

interface Sender { public function send(string $to): bool; }
trait Loggable { public function log($m) { echo <<<EOT
 // $m
EOT; } }
enum Level: string { case Low = 'low'; case High = 'high'; const DEFAULT = self::Low; public function label(): string { return ''; } }

// Adds them.
function add(int $a, int $b = 1): int { return $a + $b; }
?>
<p>text</p>
