# A server whose tools need arguments that have to be found. argv: the folder of the seed data, its tools as JSON.
use strict;
use warnings;
use JSON::PP;

$| = 1;
open(my $interfaces, '<', '/proc/net/dev') or die;
die "not in a sandbox\n" if grep { /:/ && !/^\s*lo:/ } <$interfaces>;
my ($seed, $tools) = @ARGV;
my $json = JSON::PP->new->canonical->utf8;

sub answer_call {
    my ($name, $args) = @_;
    if ($name eq 'pl_add_entry') {
        die "day: expected YYYY-MM-DD\n" unless ($args->{day} // '') =~ /^\d{4}-\d\d-\d\d$/;
        open(my $diary, '>>', "$seed/diary.txt") or die;
        print $diary "$args->{day}\n";
        close $diary;
        return 'added';
    }
    my $path = $args->{path} // '';
    die "$path is not a file\n" unless -f $path;
    unlink "$seed/table.csv" if $name eq 'pl_match_lines' && $args->{exact};
    open(my $file, '<', $path) or die;
    my $words = 0;
    $words += () = /\S+/g while <$file>;
    return "$words";
}

while (my $line = <STDIN>) {
    my $message = $json->decode($line);
    next unless exists $message->{id};
    my ($method, $result) = ($message->{method});
    if ($method eq 'initialize') {
        $result = { protocolVersion => $message->{params}{protocolVersion}, capabilities => { tools => {} },
            serverInfo => { name => 'perl', version => '1' } };
    } elsif ($method eq 'tools/list') {
        $result = { tools => $json->decode($tools) };
    } elsif ($method eq 'tools/call') {
        my $text = eval { answer_call($message->{params}{name}, $message->{params}{arguments} // {}) };
        my $failed = defined $text ? JSON::PP::false : JSON::PP::true;
        $result = { content => [{ type => 'text', text => $text // $@ }], isError => $failed };
    }
    my %reply = (jsonrpc => '2.0', id => $message->{id});
    if ($result) { $reply{result} = $result } else { $reply{error} = { code => -32601, message => 'unknown' } }
    print $json->encode(\%reply), "\n";
}
